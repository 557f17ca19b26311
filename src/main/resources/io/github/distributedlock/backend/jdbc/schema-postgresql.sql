create table if not exists distributed_lock (
	lock_key varchar(1000) collate "C" primary key,
	owner varchar(500) not null,
	state varchar(12) not null,
	ends_at bigint not null,
	fencing_token bigint not null,
	waiters text not null,
	version bigint not null,
	sweep_at bigint not null,
	unique (sweep_at, lock_key)
) with (fillfactor = 50);
