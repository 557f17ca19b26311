package io.github.distributedlock.autoconfigure;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * The database of the locks, if one of the stores is a database, and its table. The locks
 * start after all beans that prepare a database, such as Flyway and Liquibase.
 */
@Configuration(proxyBeanMethods = false)
@Conditional(JdbcConfiguration.OnJdbc.class)
@ConditionalOnClass(name = { "org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer",
		"org.springframework.jdbc.datasource.init.ResourceDatabasePopulator" })
@Import(DatabaseInitializationDependencyConfigurer.class)
class JdbcConfiguration {

	@Bean
	@Lazy
	@DependsOnDatabaseInitialization
	JdbcStore distributedLockDatabase(DistributedLockProperties properties, ListableBeanFactory beanFactory) {
		return new JdbcStore(properties, beanFactory);
	}

	@Bean(defaultCandidate = false)
	TableInitializer distributedLockTableInitializer(DistributedLockProperties properties,
			ListableBeanFactory beanFactory) {
		return new TableInitializer(JdbcStore.dataSource(properties.jdbc(), beanFactory), properties.jdbc());
	}

	/**
	 * Matches if locks are kept in a database.
	 */
	static class OnJdbc implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			return Stores.of(context.getEnvironment()).contains("jdbc");
		}

	}

}
