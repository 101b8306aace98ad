-- wrk's side of cpu-per-request: arguments are the method, the number of keys, the bytes of a value.
-- The requests are made before the run, so that wrk itself costs little; each thread begins elsewhere and takes each key once.

local requests, next_request
local threads = 0

function setup(thread)
	thread:set("number", threads)
	threads = threads + 1
end

function init(args)
	local method, keys, bytes = args[1], tonumber(args[2]), tonumber(args[3])
	local body = method == "PUT" and string.rep("v", bytes) or nil
	requests = {}
	for i = 1, keys do
		requests[i] = wrk.format(method, string.format("/v0/entity?id=key%08d", i), nil, body)
	end
	next_request = math.floor(keys / 2) * number
end

function request()
	next_request = next_request % #requests + 1
	return requests[next_request]
end
