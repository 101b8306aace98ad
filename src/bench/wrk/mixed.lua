-- READ_PERCENT GETs of the KEYS keys, uniformly; the others are PUTs of them.
local workload = dofile(debug.getinfo(1, "S").source:match("^@(.-)[^/]*$") .. "workload.lua")

function request()
	local key = workload.uniform()
	return workload.happens(workload.read) and workload.get(key) or workload.put(key)
end
