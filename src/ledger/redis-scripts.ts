/**
 * What Redis does in one step. A record is a hash; its id stands in an index of its kind and one of its kind and agent,
 * which are sorted sets in order of the ids; when it may be dropped stands in a sorted set of times.
 *
 * Redis compares and hands out texts, so revisions stay texts: a number of Lua would be written as 1e+15.
 */
const shared = `
local function indexes(prefix, member)
  local kind, agent, id = string.match(member, "^(.-):(.-):(.+)$")
  return prefix .. "kind:" .. kind, prefix .. "agent:" .. kind .. ":" .. agent, id
end
local function forget(prefix, member)
  local byKind, byAgent, id = indexes(prefix, member)
  redis.call("ZREM", byKind, id)
  redis.call("ZREM", byAgent, id)
  redis.call("ZREM", prefix .. "drops", member)
  return redis.call("DEL", prefix .. "record:" .. id)
end
`;

/**
 * KEYS: the record. ARGV: prefix, expected revision, first revision, schema that is known, member of the indexes, time
 * of dropping or "", milliseconds until then or "", then names and values of the hash.
 */
export const writeScript = `${shared}
local prefix, member = ARGV[1], ARGV[5]
local found = redis.call("HMGET", KEYS[1], "revision", "schema", "member")
local revision = ARGV[3]
if found[1] then
  if tonumber(found[2]) > tonumber(ARGV[4]) then return {"schema", found[2]} end
  if found[1] ~= ARGV[2] then return {"conflict", found[1]} end
  revision = string.format("%.0f", tonumber(found[1]) + 1)
  if found[3] ~= member then forget(prefix, found[3]) end
elseif ARGV[2] ~= "0" then
  return {"conflict", "0"}
end
redis.call("HSET", KEYS[1], "revision", revision, "member", member, unpack(ARGV, 8))
local byKind, byAgent, id = indexes(prefix, member)
redis.call("ZADD", byKind, 0, id)
redis.call("ZADD", byAgent, 0, id)
if ARGV[6] == "" then
  redis.call("PERSIST", KEYS[1])
  redis.call("ZREM", prefix .. "drops", member)
else
  redis.call("PEXPIRE", KEYS[1], ARGV[7])
  redis.call("ZADD", prefix .. "drops", ARGV[6], member)
end
return {"written", revision}
`;

/** KEYS: the record. */
export const readScript = `
return redis.call("HMGET", KEYS[1], "revision", "key", "body")
`;

/** KEYS: the record. ARGV: prefix. */
export const removeScript = `${shared}
local member = redis.call("HGET", KEYS[1], "member")
if member then return forget(ARGV[1], member) end
return redis.call("DEL", KEYS[1])
`;

/** Most ids that one call looks at, and most bytes that it gives out before it stops early. */
const maxLooks = 500;
const maxBytes = 4 * 1024 * 1024;

/**
 * KEYS: the index. ARGV: prefix, id to go on after or "", most records, time from, time before, principal, context (both
 * "*" for any), then the states; none for any. Gives "more" or "end", the last id that was looked at, and the records.
 */
export const listScript = `
local prefix, limit = ARGV[1], tonumber(ARGV[3])
local from = ARGV[2] == "" and "-" or "(" .. ARGV[2]
local ids = redis.call("ZRANGEBYLEX", KEYS[1], from, "+", "LIMIT", 0, ${maxLooks})
local function isWanted(found)
  local updated = tonumber(found[1])
  if updated < tonumber(ARGV[4]) or updated >= tonumber(ARGV[5]) then return false end
  if ARGV[6] ~= "*" and ARGV[6] ~= found[2] then return false end
  if ARGV[7] ~= "*" and ARGV[7] ~= found[3] then return false end
  for at = 8, #ARGV do
    if ARGV[at] == found[4] then return true end
  end
  return #ARGV < 8
end
local records, bytes, last = {}, 0, ARGV[2]
for _, id in ipairs(ids) do
  local name = prefix .. "record:" .. id
  local found = redis.pcall("HMGET", name, "updated", "principal", "context", "state", "revision", "key", "body")
  if found.err or not tonumber(found[1] or "") then
    if not found.err and redis.call("EXISTS", name) == 0 then
      redis.pcall("ZREM", KEYS[1], id)
    else
      if #records >= limit then return {"more", last, records} end
      table.insert(records, {"0", id, ""})
    end
  elseif isWanted(found) then
    if #records >= limit or bytes > ${maxBytes} then return {"more", last, records} end
    bytes = bytes + #(found[7] or "")
    table.insert(records, {found[5] or "0", found[6] or id, found[7] or ""})
  end
  last = id
end
return {#ids < ${maxLooks} and "end" or "more", last, records}
`;

/** KEYS: the times of dropping. ARGV: prefix, now. Gives how many it looked at, and how many it dropped. */
export const pruneScript = `${shared}
local members = redis.call("ZRANGEBYSCORE", KEYS[1], "-inf", ARGV[2], "LIMIT", 0, ${maxLooks})
local dropped = 0
for _, member in ipairs(members) do dropped = dropped + forget(ARGV[1], member) end
return {#members, dropped}
`;
