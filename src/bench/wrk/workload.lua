-- What the workloads beside this file share. It runs in Debian's wrk 4.1 and in wrk2. Settings come by environment:
--
--   KEYS               how many keys exist: key00000001 and so on; 10000
--   VALUE_BYTES        32
--   REPLICAS           "2/3" for example; passed on with each request; empty: the server's default
--   OVERWRITE_PERCENT  of put-overwrite; 10
--   READ_PERCENT       of mixed; 90
--   RUN                names the new keys of this run, [a-zA-Z0-9]; the time in seconds
--
-- A request is put together from three strings, of which two were made before the run: wrk shares the cores with the server.

local DISTINCT_VALUES = 64
local MAX_VALUES_BYTES = 16 * 1024 * 1024

local workload = {}
local threads = 0
local keys, run, number, made
local put_head, get_head, get_tail
local put_tails = {}

local function setting(name, default)
	local text = os.getenv(name)
	if not text or text == "" then
		return default
	end
	local value = tonumber(text)
	if not value or value < 0 or value ~= math.floor(value) then
		error(name .. " is no number: " .. text)
	end
	return value
end

local function percent(name, default)
	local value = setting(name, default)
	if value > 100 then
		error(name .. " is above 100")
	end
	return value / 100
end

local function replicas()
	local text = os.getenv("REPLICAS")
	if not text or text == "" then
		return ""
	end
	if not text:match("^%d+/%d+$") then
		error("REPLICAS is not like 2/3: " .. text)
	end
	return "&replicas=" .. text
end

local function run_name()
	local name = os.getenv("RUN") or ""
	if not name:match("^%w*$") then
		error("RUN is not of letters and digits: " .. name)
	end
	return name ~= "" and name or tostring(os.time())
end

-- Values differ, and do not compress, as far as so many can.
local function random_value(bytes)
	local characters = {}
	for i = 1, bytes do
		characters[i] = string.char(math.random(33, 126))
	end
	return table.concat(characters)
end

-- Splits a request around a key that stands for all.
local function split(method, body)
	local text = wrk.format(method, "/v0/entity?id=@" .. replicas(), nil, body)
	return text:match("^(.-)@(.*)$")
end

function setup(thread)
	thread:set("thread_number", threads)
	threads = threads + 1
end

function init()
	number, made = thread_number, 0
	keys = setting("KEYS", 10000)
	if keys < 1 then
		error("KEYS is less than 1")
	end
	run = "new" .. run_name() .. "-" .. number .. "-"
	workload.overwrite, workload.read = percent("OVERWRITE_PERCENT", 10), percent("READ_PERCENT", 90)
	-- Both seeds: threads must not send the same, nor a run what the one before sent.
	math.randomseed(os.time() + 7919 * number)
	local bytes = setting("VALUE_BYTES", 32)
	for i = 1, math.max(1, math.min(DISTINCT_VALUES, math.floor(MAX_VALUES_BYTES / math.max(1, bytes)))) do
		put_head, put_tails[i] = split("PUT", random_value(bytes))
	end
	get_head, get_tail = split("GET")
end

-- The key with this number, from 1 on, of those that exist.
local function existing(i)
	return string.format("key%08d", i)
end

function workload.put(key)
	return put_head .. key .. put_tails[math.random(#put_tails)]
end

function workload.get(key)
	return get_head .. key .. get_tail
end

-- A key that nobody has written.
function workload.new()
	made = made + 1
	return run .. made
end

-- One of the keys that this thread made; a new one where there is none.
function workload.made()
	return made > 0 and run .. math.random(made) or workload.new()
end

-- Each key in turn; each thread begins elsewhere.
function workload.next()
	made = made + 1
	return existing((made + math.floor(number * keys * 0.618)) % keys + 1)
end

function workload.uniform()
	return existing(math.random(keys))
end

-- The newest key most often, by Zipf's law with the exponent 1: of the ages 1 to 10, 10 to 100 and so on each has as much.
function workload.latest()
	return existing(keys + 1 - math.floor(keys ^ math.random()))
end

-- A few keys most often, by the same law, scattered over all: a prime that does not divide their number moves each rank elsewhere.
function workload.zipfian()
	return existing(math.floor(keys ^ math.random()) * 1000003 % keys + 1)
end

-- Whether an event of this probability happens.
function workload.happens(probability)
	return math.random() < probability
end

return workload
