-- PUTs of which OVERWRITE_PERCENT write over a key that this thread wrote in this run, the others a new key.
local workload = dofile(debug.getinfo(1, "S").source:match("^@(.-)[^/]*$") .. "workload.lua")

function request()
	return workload.put(workload.happens(workload.overwrite) and workload.made() or workload.new())
end
