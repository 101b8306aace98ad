-- PUTs of the KEYS keys, uniformly.
local workload = dofile(debug.getinfo(1, "S").source:match("^@(.-)[^/]*$") .. "workload.lua")

function request()
	return workload.put(workload.uniform())
end
