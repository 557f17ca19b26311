create table if not exists distributed_lock (
	lock_key varbinary(1000) primary key,
	readable_key varchar(1000) character set utf8mb4 generated always as (convert(lock_key using utf8mb4)) virtual,
	holders mediumtext not null,
	ends_at datetime(6) not null,
	waiters mediumtext not null,
	fencing_token bigint not null,
	version bigint not null,
	sweep_at datetime(6) not null,
	index (sweep_at)
) engine = InnoDB character set utf8mb4 collate utf8mb4_bin;
