-- PUTs of the KEYS keys, each in turn, on a condition that holds: each has a value. With KEYS=1 all connections write one key.
local workload = dofile(debug.getinfo(1, "S").source:match("^@(.-)[^/]*$") .. "workload.lua")

wrk.headers["If-Match"] = "*"

function request()
	return workload.put(workload.next())
end
