-- SPDX-License-Identifier: Apache-2.0
-- What the Lua that bench/workloads builds with counters runs.
local t={} for i=1,2000 do t[i]=math.sin(i)*i end table.sort(t)
local s={} for w in ("the quick brown fox"):gmatch("%a+") do s[#s+1]=w:upper():rep(3) end
print(table.concat(s,","), string.format("%5.2f %q %x", t[5], "a\nb", 255))
local co=coroutine.wrap(function(a) for i=1,a do coroutine.yield(i) end end) for i=1,5 do co(5) end
local ok,e=pcall(function() error({1}) end) print(ok, type(e), #arg)
local m=setmetatable({}, {__index=function(_,k) return k.."!" end, __gc=function() end}) print(m.x) collectgarbage()
print(load("return 1+2*3//2 << 2 ~ 5")()) goto done; print(1) ::done:: print(utf8.char(228, 8364), os.time{year=2020,month=1,day=1})
