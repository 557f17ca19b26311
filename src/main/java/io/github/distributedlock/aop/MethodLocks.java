package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockDefinitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;

/**
 * Gives the locks of methods. Each bean is looked up at the first use, and not before,
 * since a scheduler calls methods while beans are made. Used by many threads.
 */
final class MethodLocks {

	private static final Logger logger = LoggerFactory.getLogger(MethodLocks.class);

	private final LockDefinitionSource definitions;

	private final Function<String, DistributedLock> beans;

	private final Map<String, DistributedLock> locks = new ConcurrentHashMap<>();

	private final Set<Method> calledInTransactions = ConcurrentHashMap.newKeySet();

	MethodLocks(LockDefinitionSource definitions, Function<String, DistributedLock> beans) {
		this.definitions = definitions;
		this.beans = beans;
	}

	/**
	 * Warns, once for each method, of a call inside a transaction.
	 */
	void warnOfTransaction(LockDefinition definition) {
		if (this.calledInTransactions.add(definition.annotated().method())) {
			logger.warn("{}: called inside a running transaction, so that the lock is held until that "
					+ "transaction has completed; to hold it for the method alone, call it before the transaction "
					+ "begins", definition.annotated());
		}
	}

	/**
	 * Returns the lock of a method.
	 * @throws LockDefinitionException if there is no such bean
	 */
	DistributedLock of(LockDefinition definition) {
		DistributedLock known = this.locks.get(definition.store());
		if (known == null) {
			try {
				known = this.beans.apply(definition.store());
			}
			catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException ex) {
				throw this.definitions.refuseStore(definition, ex);
			}
			this.locks.put(definition.store(), known);
		}
		return known;
	}

}
