package io.github.distributedlock.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import io.github.distributedlock.aop.DistributedLockAdvisor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Registers the guard with all transaction managers, also with managers that the user
 * defines. The guard is no bean, because Spring Boot would register a bean with its own
 * managers, too.
 */
final class CommitGuardPostProcessor implements BeanPostProcessor {

	private static final Logger logger = LoggerFactory.getLogger(CommitGuardPostProcessor.class);

	private final TransactionExecutionListener guard = DistributedLockAdvisor.commitGuard();

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		// Behind a proxy of the manager's class, the final methods of the manager have no
		// state.
		Object target = AopProxyUtils.getSingletonTarget(bean);
		Object manager = (target != null) ? target : bean;
		if (manager instanceof ConfigurableTransactionManager configurable) {
			List<TransactionExecutionListener> listeners = new ArrayList<>(
					configurable.getTransactionExecutionListeners());
			if (listeners.stream().noneMatch(this.guard.getClass()::isInstance)) {
				listeners.add(this.guard);
				configurable.setTransactionExecutionListeners(listeners);
			}
		}
		else if (manager instanceof PlatformTransactionManager) {
			logger.info("Transaction manager '{}' ({}) takes no TransactionExecutionListener. A method with"
					+ " @DistributedLock(onLost = THROW) whose transaction it begins may fail only after the commit when"
					+ " its lock is lost. Extend AbstractPlatformTransactionManager, or call handle.checkHeld() last"
					+ " in such methods", beanName, manager.getClass().getName());
		}
		return bean;
	}

}
