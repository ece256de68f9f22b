-- SPDX-License-Identifier: Apache-2.0
-- What the sqlite3 that bench/workloads builds with counters runs.
create table a(x integer primary key, y text, z real); 
with recursive c(i) as (select 1 union all select i+1 from c where i<3000) insert into a select i, 'n'||(i%37), i*1.5 from c;
create index ay on a(y); select y,count(*),sum(z) from a group by y having count(*)>80 order by 2 desc limit 4;
update a set z=z+1 where y like 'n3%'; delete from a where x%7=0; select json_extract('{"a":[1,2]}','$.a[1]'), substr('hello',2,3), printf('%d|%s',3,'x');
select count(*) from a x join a y on x.x=y.x+1 where x.z between 10 and 500; explain query plan select * from a where y='n1'; begin; insert into a values(99999,null,null); rollback; vacuum; pragma integrity_check; select row_number() over (partition by y order by z) from a limit 3;
