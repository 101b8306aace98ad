-- PUTs of the KEYS keys, each in turn and each with an Idempotency-Key of its own.
local workload = dofile(debug.getinfo(1, "S").source:match("^@(.-)[^/]*$") .. "workload.lua")

wrk.headers["Idempotency-Key"] = "@"

function request()
	return (workload.put(workload.next()):gsub("@", workload.new(), 1))
end
