-- Reads a path filter of the kind fuse, in LuaJIT 2.1: require("fuse-filter").open(file):has(key).
-- From a shell, `luajit fuse-filter.lua FILE < keys` prints 1 (may be in it) or 0 (is not).
local ffi, rol, rshift, band, bxor = require("ffi"), bit.rol, bit.rshift, bit.band, bit.bxor
assert(ffi.abi("le"), "XXH64 reads little-endian words, and this reader does not swap bytes")
local P1, P2, P3 = 0x9E3779B185EBCA87ULL, 0xC2B2AE3D27D4EB4FULL, 0x165667B19E3779F9ULL
local P4, P5, LOW = 0x85EBCA77C2B2AE63ULL, 0x27D4EB2F165667C5ULL, 0xFFFFFFFFULL
local BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local BYTES, VALUE = ffi.typeof("const uint8_t *"), ffi.new("uint8_t[256]")
for i = 1, 64 do VALUE[BASE64:byte(i)] = i - 1 end
local function round(lane, word) return rol(lane + word * P2, 31) * P1 end
local function mix(h, word, turn) return rol(bxor(h, word), turn) * P1 end
local function merge(h, lane) return mix(h, round(0ULL, lane), 0) + P4 end
local function rest(h, at, n) return n < 1 and h or rest(mix(h, at[0] * P5, 11), at + 1, n - 1) end
local function xxh64(key, seed)
  local n, w, h = #key, ffi.cast("const uint64_t *", key), seed + P5 + #key
  if n >= 32 then
    local a, b, c, d = seed + P1 + P2, seed + P2, seed, seed - P1
    for _ = 32, n, 32 do
      a, b, c, d, w = round(a, w[0]), round(b, w[1]), round(c, w[2]), round(d, w[3]), w + 4
    end
    h = merge(merge(merge(merge(rol(a, 1) + rol(b, 7) + rol(c, 12) + rol(d, 18), a), b), c), d) + n
  end
  for _ = 8, n % 32, 8 do h, w = mix(h, round(0ULL, w[0]), 27) + P4, w + 1 end
  if n % 8 >= 4 then h = rol(bxor(h, ffi.cast("const uint32_t *", w)[0] * P1), 23) * P2 + P3 end
  h = rest(h, ffi.cast(BYTES, key) + (n - n % 4), n % 4) -- not a loop: LuaJIT slows on short ones
  h = bxor(h, rshift(h, 33)) * P2; h = bxor(h, rshift(h, 29)) * P3
  return bxor(h, rshift(h, 32))
end
local function open(path)
  local file = assert(io.open(path, "rb")); local head = file:read(2^16 + 2) or "" -- the first line
  local function disarm(s) return (s:gsub("[{}<>:]", "_")) end
  local function flatten(o) return "<" .. o:sub(2, -2):gsub("%b{}", "") .. ">" end
  local header = (head:match("^([^\n]*)\n") or ""):gsub("\\.", "_"):gsub('"[^"]*"', disarm)
  local fuse = (header:match("^%s*{(.*)}%s*$") or ""):gsub("%b{}", flatten)
  fuse = fuse:match('.*"fuse"%s*:%s*<([^>]*)>') or ""
  local function number(name, low, high)
    local n = tonumber(fuse:match('.*"' .. name .. '"%s*:%s*([^,%s]+)')) or -1
    return assert(n >= low and n <= high and n % 1 == 0 and n + 0ULL, path .. ": cannot read it")
  end
  local q, s, l = number("q", 0, 2^53 - 1), number("s", 0, 2^53 - 1), number("l", 1, 2^16)
  local m = number("m", tonumber(3 * l), 2^28)
  local text = head .. (file:read(tonumber(4 * m) + 6) or ""), file:close()
  local first, last = text:match('^[^\n]*\n"()[%w+/]*()"\r?\n?$')
  assert(first and m % l == 0 and last - first == 4 * m, path .. ": cannot read it")
  local function slot(at, part)
    local i = first + 4 * tonumber(at * l + rshift(part * l, 32))
    local a, b, c, d = text:byte(i, i + 3) -- LuaJIT 2.1 beta 3 miscompiles pointers
    return ((VALUE[a] * 64 + VALUE[b]) * 64 + VALUE[c]) * 64 + VALUE[d]
  end
  return { has = function(_, key)
    local h = xxh64(key, s)
    local start, low = rshift(h * q, 32) * (m / l - 2), band(h * q, LOW)
    local at, z = rshift(start, 32), slot(rshift(start, 32) + 2, band(low * l, LOW))
    return bxor(slot(at, band(start, LOW)), slot(at + 1, low), z) == tonumber(rshift(h, 40))
  end }
end
if not arg or arg[0] ~= debug.getinfo(1, "S").source:sub(2) then return { open = open } end
local ok, filter = pcall(open, arg[1])
if not ok then io.stderr:write(filter, "\n") os.exit(2) end
local keys = io.read("*a"):gsub("[^\n]$", "%0\n")
for key in keys:gmatch("([^\n]*)\n") do io.write(filter:has(key) and "1\n" or "0\n") end
