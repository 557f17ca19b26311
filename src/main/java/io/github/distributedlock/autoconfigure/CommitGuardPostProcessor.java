package io.github.distributedlock.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.distributedlock.aop.DistributedLockAdvisor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionManager;

/**
 * Registers the guard with all transaction managers, also with managers that the user
 * defines. The guard is no bean, because Spring Boot would register a bean with its own
 * managers, too.
 * <p>
 * A manager is guarded from its creation on. Once all singletons exist, this class also
 * guards the managers that it has not seen: those that other post-processors need, and
 * those of parent contexts. Several threads may create beans.
 */
final class CommitGuardPostProcessor implements BeanPostProcessor, SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(CommitGuardPostProcessor.class);

	private final TransactionExecutionListener guard = DistributedLockAdvisor.commitGuard();

	private final BeanFactory beanFactory;

	/**
	 * The names of the managers that the log was told of.
	 */
	private final Set<String> refused = ConcurrentHashMap.newKeySet();

	/**
	 * Creates the post-processor.
	 * @param beanFactory where managers are looked for once all singletons exist
	 */
	CommitGuardPostProcessor(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Guards the managers that exist. A lazy manager is guarded when somebody needs it.
	 */
	@Override
	public void afterSingletonsInstantiated() {
		@Nullable BeanFactory next = this.beanFactory;
		while (next instanceof ConfigurableListableBeanFactory factory) {
			for (String name : factory.getBeanNamesForType(TransactionManager.class, false, false)) {
				if (factory.containsSingleton(name)) {
					postProcessAfterInitialization(factory.getBean(name), name);
				}
			}
			next = factory.getParentBeanFactory();
		}
	}

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
		else if (manager instanceof PlatformTransactionManager && this.refused.add(beanName)) {
			logger.info("Transaction manager '{}' ({}) takes no TransactionExecutionListener. A method with"
					+ " @DistributedLock(onLost = THROW) whose transaction it begins may fail only after the commit when"
					+ " its lock is lost. Extend AbstractPlatformTransactionManager, or call handle.checkHeld() last"
					+ " in such methods", beanName, manager.getClass().getName());
		}
		return bean;
	}

}
