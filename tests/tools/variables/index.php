<?php
// Answers each request with its variables as JSON, in PHP's own server.
$isField = fn ($name) => str_starts_with($name, 'HTTP_');
header('Content-Type: application/json');
echo json_encode((object) array_filter($_SERVER, $isField, ARRAY_FILTER_USE_KEY));
