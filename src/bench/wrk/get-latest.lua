-- GETs of the KEYS keys, the newest most often.
local workload = dofile(debug.getinfo(1, "S").source:match("^@(.-)[^/]*$") .. "workload.lua")

function request()
	return workload.get(workload.latest())
end
