create table if not exists distributed_lock (
	lock_key varbinary(1000) primary key,
	owner varchar(500) not null,
	state varchar(12) not null,
	ends_at bigint not null,
	fencing_token bigint not null,
	waiters varchar not null,
	version bigint not null,
	sweep_at bigint not null,
	readable_key varchar generated always as (utf8tostring(lock_key)),
	unique (sweep_at, lock_key)
);
