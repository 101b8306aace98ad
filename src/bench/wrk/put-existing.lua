-- PUTs of the KEYS keys, each in turn: loads them, and writes over them from then on.
local workload = dofile(debug.getinfo(1, "S").source:match("^@(.-)[^/]*$") .. "workload.lua")

function request()
	return workload.put(workload.next())
end
