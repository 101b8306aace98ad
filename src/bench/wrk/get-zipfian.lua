-- GETs of the KEYS keys, by Zipf's law.
local workload = dofile(debug.getinfo(1, "S").source:match("^@(.-)[^/]*$") .. "workload.lua")

function request()
	return workload.get(workload.zipfian())
end
