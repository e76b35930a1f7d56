#!/usr/bin/env node
// npm links only to files that exist when it installs, before anything is built.
import "../dist/main.js";
