#!/usr/bin/env node
// A file that is there before anything is built: npm links to no other.
import "../dist/main.js";
