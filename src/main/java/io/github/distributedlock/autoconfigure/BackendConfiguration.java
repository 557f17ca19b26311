package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * The store of the locks. Lazy, because it is not needed beside a {@code DistributedLock}
 * of the user's own.
 */
@Configuration(proxyBeanMethods = false)
class BackendConfiguration {

	@Bean
	@Lazy
	@ConditionalOnMissingBean
	LockBackend distributedLockBackend(DistributedLockProperties properties, ListableBeanFactory beanFactory) {
		return switch (properties.backend()) {
			case MEMORY -> new InMemoryLockBackend();
			case REDIS -> RedisBackendFactory.create(properties, beanFactory);
		};
	}

}
