create table if not exists distributed_lock (
	lock_key varchar(1000) collate "C" primary key,
	holders text not null,
	ends_at timestamp(6) not null,
	waiters text not null,
	fencing_token bigint not null,
	version bigint not null,
	sweep_at timestamp(6) not null,
	unique (sweep_at, lock_key)
) with (fillfactor = 50);
