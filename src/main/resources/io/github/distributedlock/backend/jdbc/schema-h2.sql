create table if not exists distributed_lock (
	lock_key varbinary(1000) primary key,
	readable_key varchar generated always as (utf8tostring(lock_key)),
	holders varchar not null,
	ends_at timestamp(6) not null,
	waiters varchar not null,
	fencing_token bigint not null,
	version bigint not null,
	sweep_at timestamp(6) not null,
	unique (sweep_at, lock_key)
);
