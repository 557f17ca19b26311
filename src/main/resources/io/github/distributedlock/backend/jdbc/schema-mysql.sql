create table if not exists distributed_lock (
	lock_key varbinary(1000) primary key,
	owner varchar(500) not null,
	state varchar(12) not null,
	ends_at bigint not null,
	fencing_token bigint not null,
	waiters mediumtext not null,
	version bigint not null,
	sweep_at bigint not null,
	readable_key varchar(1000) character set utf8mb4 generated always as (convert(lock_key using utf8mb4)) virtual,
	index (sweep_at)
) engine = InnoDB character set utf8mb4 collate utf8mb4_bin;
