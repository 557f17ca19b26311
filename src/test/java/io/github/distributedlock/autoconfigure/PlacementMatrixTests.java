package io.github.distributedlock.autoconfigure;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.autoconfigure.Placements.Pay;
import io.github.distributedlock.autoconfigure.Placements.Seen;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.PropertyValues;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinitionHolder;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.SimpleApplicationEventMulticaster;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.data.keyvalue.core.KeyValueTemplate;
import org.springframework.data.keyvalue.repository.support.KeyValueRepositoryFactory;
import org.springframework.data.map.MapKeyValueAdapter;
import org.springframework.data.repository.Repository;
import org.springframework.data.repository.core.support.RepositoryComposition.RepositoryFragments;
import org.springframework.data.repository.core.support.RepositoryFactorySupport;
import org.springframework.data.repository.core.support.TransactionalRepositoryFactoryBeanSupport;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.ScheduledAnnotationBeanPostProcessor;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.service.annotation.HttpExchange;
import org.springframework.web.service.invoker.HttpExchangeAdapter;
import org.springframework.web.service.invoker.HttpRequestValues;
import org.springframework.web.service.invoker.HttpServiceProxyFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Wherever {@code @Transactional} applies, the lock applies too, or the bean is refused
 * with the reason: {@linkplain Placements placements} × kinds of beans × callers.
 */
class PlacementMatrixTests {

	private static final String PREFIX = "placement.";

	private static final String PARTNER = "partner of ";

	@ParameterizedTest
	@EnumSource
	void lockAppliesWhereverTheTransactionDoes(Kind kind, TestReporter reporter) {
		Contexts.inMemory()
			.withAllowCircularReferences(kind == Kind.EARLY_REFERENCE)
			.withUserConfiguration(kind.subclasses ? SubclassProxies.class : InterfaceProxies.class)
			.withPropertyValues("spring.aop.proxy-target-class=" + kind.subclasses)
			.withInitializer((context) -> {
				context.getBeanFactory().registerScope("thread", new SimpleThreadScope());
				kind.register((BeanDefinitionRegistry) context.getBeanFactory(), context);
			})
			.run((context) -> {
				assertThat(context).hasNotFailed();
				Cells cells = new Cells(context);
				cells.callAll();
				reporter.publishEntry(kind.name(), cells.toString());
				assertThat(cells.transactionOnly).as("Called with the transaction and without the lock").isEmpty();
				assertThat(cells.both).as("Called with both").isGreaterThanOrEqualTo(kind.both);
				assertThat(cells.neither).as("Called with neither").isEmpty();
				assertThat(cells.refused.keySet()).as("Refused, %s", cells.refused)
					.containsExactlyInAnyOrderElementsOf(kind.refused());
			});
	}

	private static RootBeanDefinition lazy(Class<?> type, @Nullable Supplier<?> instance) {
		RootBeanDefinition definition = new RootBeanDefinition(type);
		definition.setInstanceSupplier(instance);
		definition.setLazyInit(true);
		return definition;
	}

	/**
	 * Returns whether an interface, or a method of the interface, carries the
	 * annotations, as far as Spring can find them.
	 */
	private static boolean isTransactional(Class<?> type) {
		return AnnotatedElementUtils.hasAnnotation(type, Transactional.class) || Stream.of(type.getMethods())
			.anyMatch((method) -> AnnotatedElementUtils.hasAnnotation(method, Transactional.class));
	}

	@SuppressWarnings("unchecked")
	private static RootBeanDefinition repository(Class<?> type, Supplier<RepositoryFragments> fragments) {
		RootBeanDefinition definition = lazy(Repositories.class, () -> {
			Repositories factory = new Repositories((Class<? extends Repository<Object, Object>>) type);
			factory.setRepositoryFragments(fragments.get());
			return factory;
		});
		definition.setAttribute(FactoryBean.OBJECT_TYPE_ATTRIBUTE, type);
		definition.getPropertyValues().add("transactionManager", "transactions");
		return definition;
	}

	/**
	 * A kind of bean.
	 */
	enum Kind {

		CLASS_PROXY(true, 350, "OnFinalClass", "OnFinalMethod", "OnRecord", "OnTwoInterfaces") {

			@Override
			void register(BeanDefinitionRegistry beans, ApplicationContext context) {
				Placements.all()
					.forEach((type) -> beans.registerBeanDefinition(PREFIX + type.getSimpleName(), lazy(type, null)));
			}

		},

		INTERFACE_PROXY(false, 280, "OnFinalMethod", "OnTwoInterfaces") {

			@Override
			void register(BeanDefinitionRegistry beans, ApplicationContext context) {
				CLASS_PROXY.register(beans, context);
			}

		},

		FACTORY_BEAN(true, 350, "OnFinalClass", "OnFinalMethod", "OnRecord", "OnTwoInterfaces") {

			@Override
			void register(BeanDefinitionRegistry beans, ApplicationContext context) {
				for (Class<?> type : Placements.all()) {
					RootBeanDefinition definition = lazy(Factory.class, () -> new Factory(type));
					definition.setAttribute(FactoryBean.OBJECT_TYPE_ATTRIBUTE, type);
					beans.registerBeanDefinition(PREFIX + type.getSimpleName(), definition);
				}
			}

		},

		SCOPED_PROXY(true, 350, "OnFinalMethod", "OnTwoInterfaces") {

			@Override
			void register(BeanDefinitionRegistry beans, ApplicationContext context) {
				// A scoped proxy is a subclass, too.
				Placements.all().stream().filter((type) -> !Modifier.isFinal(type.getModifiers())).forEach((type) -> {
					RootBeanDefinition definition = lazy(type, null);
					definition.setScope("thread");
					BeanDefinitionHolder proxy = ScopedProxyUtils.createScopedProxy(
							new BeanDefinitionHolder(definition, PREFIX + type.getSimpleName()), beans, true);
					beans.registerBeanDefinition(proxy.getBeanName(), proxy.getBeanDefinition());
				});
			}

		},

		/**
		 * Each bean is in a circle with another one, which is given an early reference.
		 */
		EARLY_REFERENCE(true, 0) {

			@Override
			void register(BeanDefinitionRegistry beans, ApplicationContext context) {
				CLASS_PROXY.register(beans, context);
				for (Class<?> type : Placements.all()) {
					String name = PREFIX + type.getSimpleName();
					beans.registerBeanDefinition(PARTNER + name,
							lazy(Partner.class, () -> new Partner(context.getBean(name))));
				}
			}

			@Override
			List<String> refused() {
				return Placements.all().stream().map(Class::getSimpleName).toList();
			}

		},

		/**
		 * Proxies that a library makes of an interface, such as mappers.
		 */
		GENERATED(true, 160, "OnTwoInterfaces") {

			@Override
			void register(BeanDefinitionRegistry beans, ApplicationContext context) {
				Placements.all()
					.stream()
					.filter((type) -> Stream.of(type.getInterfaces()).anyMatch(PlacementMatrixTests::isTransactional))
					.forEach((type) -> beans.registerBeanDefinition(PREFIX + type.getSimpleName(),
							lazy(type.getInterfaces()[0], () -> Proxy.newProxyInstance(type.getClassLoader(),
									type.getInterfaces(), (proxy, method, args) -> {
										if (ReflectionUtils.isObjectMethod(method)) {
											return method.invoke(type, args);
										}
										Placements.body(Object.class);
										return null;
									}))));
			}

		},

		LAMBDA(true, 40) {

			@Override
			void register(BeanDefinitionRegistry beans, ApplicationContext context) {
				Placements.lambdas()
					.forEach((name, lambda) -> beans.registerBeanDefinition(PREFIX + name,
							lazy(lambda.get().getClass().getInterfaces()[0], lambda)));
			}

		},

		HTTP_CLIENT(true, 120) {

			@Override
			void register(BeanDefinitionRegistry beans, ApplicationContext context) {
				HttpServiceProxyFactory factory = HttpServiceProxyFactory.builderFor(new RecordingExchange())
					.customArgumentResolver((argument, parameter, values) -> true)
					.build();
				Placements.all()
					.stream()
					.flatMap((type) -> Stream.of(type.getInterfaces()))
					.distinct()
					.filter(PlacementMatrixTests::isTransactional)
					.filter((type) -> Stream.of(type.getMethods())
						.anyMatch((method) -> AnnotatedElementUtils.hasAnnotation(method, HttpExchange.class)))
					.forEach((type) -> beans.registerBeanDefinition(PREFIX + type.getSimpleName(),
							lazy(type, () -> factory.createClient(type))));
			}

		},

		REPOSITORY(true, 30) {

			@Override
			void register(BeanDefinitionRegistry beans, ApplicationContext context) {
				beans.registerBeanDefinition("fragment", lazy(Placements.OnBridgedMethod.class, null));
				// The annotation of a fragment's class counts only where the fragment is
				// a bean.
				Placements.fragments()
					.forEach((type, fragment) -> beans.registerBeanDefinition(PREFIX + type.getSimpleName(),
							repository(type,
									() -> RepositoryFragments.just((fragment == Placements.OnBridgedMethod.class)
											? context.getBean("fragment") : BeanUtils.instantiateClass(fragment)))));
			}

		},

		CRUD_REPOSITORY(true, 14) {

			@Override
			void register(BeanDefinitionRegistry beans, ApplicationContext context) {
				Placements.repositories()
					.forEach((type) -> beans.registerBeanDefinition(PREFIX + type.getSimpleName(),
							repository(type, RepositoryFragments::empty)));
			}

		};

		private final boolean subclasses;

		private final int both;

		private final String[] refused;

		/**
		 * Creates a kind.
		 * @param subclasses whether the proxies of that kind are subclasses
		 * @param both how many calls have both the transaction and the lock, at least
		 * @param refused the placements that cannot work
		 */
		Kind(boolean subclasses, int both, String... refused) {
			this.subclasses = subclasses;
			this.both = both;
			this.refused = refused;
		}

		abstract void register(BeanDefinitionRegistry beans, ApplicationContext context);

		/**
		 * Returns the names of the beans that cannot work.
		 */
		List<String> refused() {
			return List.of(this.refused);
		}

	}

	/**
	 * The calls of the beans of a context: one for each object that the context gives to
	 * somebody, each type by which the object is called, and each method.
	 */
	private static final class Cells {

		private static final Map<String, Object[]> CALLED = Map.of("handle", new Object[] { new Pay("1") }, "run",
				new Object[0], "findById", new Object[] { "1" }, "count", new Object[0]);

		private final Set<String> transactionOnly = new TreeSet<>();

		private final Set<String> neither = new TreeSet<>();

		private final Map<String, String> refused = new TreeMap<>();

		private final ApplicationContext context;

		private int both;

		private int lockOnly;

		private Cells(ApplicationContext context) {
			this.context = context;
		}

		private void callAll() {
			for (String name : this.context.getBeanDefinitionNames()) {
				if (name.startsWith(PREFIX)) {
					try {
						callAll(name);
					}
					catch (RuntimeException ex) {
						refused(name, ex);
					}
				}
			}
			Placements.takeSeen();
			this.context.publishEvent(new Pay("1"));
			Placements.takeSeen().forEach((type, seen) -> count("listener of " + type.getSimpleName(), seen));
			this.context.getBean(ScheduledAnnotationBeanPostProcessor.class)
				.getScheduledTasks()
				.forEach((task) -> task.getTask().getRunnable().run());
			Placements.takeSeen().forEach((type, seen) -> count("schedule of " + type.getSimpleName(), seen));
		}

		private void callAll(String name) {
			Object bean = this.context.getBean(name);
			call(name, "bean", bean);
			if (this.context.containsBeanDefinition(PARTNER + name)) {
				call(name, "partner", this.context.getBean(PARTNER + name, Partner.class).bean());
			}
			Object processed = this.context.getBean(Processor.class).processed.get(name);
			if (processed != null) {
				call(name, "processor", processed);
				callAsContainer(name, processed);
			}
		}

		/**
		 * Calls the methods as code does that is compiled against each of the types.
		 */
		private void call(String name, String holder, Object bean) {
			Set<Class<?>> types = new LinkedHashSet<>();
			addTypes(types, AopUtils.isAopProxy(bean) || Proxy.isProxyClass(bean.getClass()) ? bean.getClass()
					: ClassUtils.getUserClass(bean));
			for (Class<?> type : types) {
				for (Method method : type.getDeclaredMethods()) {
					if (CALLED.containsKey(method.getName()) && !Modifier.isPrivate(method.getModifiers())) {
						call(name, holder + " as " + type.getSimpleName() + (method.isBridge() ? " by a bridge" : ""),
								bean, method);
					}
				}
			}
		}

		private static void addTypes(Set<Class<?>> types, @Nullable Class<?> type) {
			if (type != null && !type.getName().startsWith("java.") && types.add(type)) {
				addTypes(types, type.getSuperclass());
				Stream.of(type.getInterfaces()).forEach((each) -> addTypes(types, each));
			}
		}

		/**
		 * Calls the methods as the containers of listeners do: they look for them in the
		 * class of the target.
		 */
		private void callAsContainer(String name, Object bean) {
			Set<Method> methods = MethodIntrospector.selectMethods(AopUtils.getTargetClass(bean),
					(Method method) -> CALLED.containsKey(method.getName()));
			for (Method method : methods) {
				Method invocable;
				try {
					invocable = AopUtils.selectInvocableMethod(method, bean.getClass());
				}
				catch (IllegalStateException ex) {
					continue; // in no interface of the proxy
				}
				call(name, "container", bean, invocable);
			}
		}

		private void call(String name, String holder, Object bean, Method method) {
			Placements.takeSeen();
			try {
				method.setAccessible(true);
				method.invoke(bean, CALLED.get(method.getName()));
			}
			catch (InvocationTargetException ex) {
				refused(name, ex.getCause());
				return;
			}
			catch (IllegalAccessException ex) {
				throw new IllegalStateException(ex);
			}
			Map<Class<?>, Seen> seen = Placements.takeSeen();
			assertThat(seen).as("%s.%s of %s", name, method.getName(), holder).hasSize(1);
			count(name + "." + method.getName() + ", " + holder, seen.values().iterator().next());
		}

		private void refused(String name, Throwable failure) {
			LockDefinitionException refusal = LockException.causes(failure)
				.stream()
				.filter(LockDefinitionException.class::isInstance)
				.map(LockDefinitionException.class::cast)
				.findFirst()
				.orElseThrow(() -> new IllegalStateException(name, failure));
			this.refused.put(name.substring(PREFIX.length()), String.valueOf(refusal.getMessage()));
		}

		private void count(String cell, Seen seen) {
			if (seen.transaction() && seen.lock()) {
				this.both++;
			}
			else if (seen.lock()) {
				this.lockOnly++;
			}
			else {
				(seen.transaction() ? this.transactionOnly : this.neither).add(cell);
			}
		}

		@Override
		public String toString() {
			return this.both + " calls with both, " + this.lockOnly + " with the lock only, "
					+ this.transactionOnly.size() + " with the transaction only, " + this.neither.size()
					+ " with neither, refused " + this.refused.keySet();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(proxyTargetClass = true)
	static class SubclassProxies extends Application {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class InterfaceProxies extends Application {

	}

	@EnableScheduling
	abstract static class Application {

		@Bean
		static PlatformTransactionManager transactions() {
			return new NoTransactions();
		}

		@Bean
		static Processor processor() {
			return new Processor();
		}

		/**
		 * Goes on after a listener that is a bean that is refused, or the proxy of whose
		 * bean does not have the listener's method.
		 */
		@Bean
		static SimpleApplicationEventMulticaster applicationEventMulticaster() {
			SimpleApplicationEventMulticaster multicaster = new SimpleApplicationEventMulticaster();
			multicaster.setErrorHandler((failure) -> {
			});
			return multicaster;
		}

	}

	/**
	 * Keeps all beans, as post-processors do that look for methods to call, and lets
	 * beans have their partners.
	 */
	static class Processor implements SmartInstantiationAwareBeanPostProcessor, BeanFactoryAware {

		private final Map<String, Object> processed = new ConcurrentHashMap<>();

		private @Nullable BeanFactory beans;

		@Override
		public void setBeanFactory(BeanFactory beans) {
			this.beans = beans;
		}

		@Override
		public PropertyValues postProcessProperties(PropertyValues values, Object bean, String name) {
			if (this.beans != null && this.beans.containsBean(PARTNER + name)) {
				this.beans.getBean(PARTNER + name);
			}
			return values;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String name) {
			if (name.startsWith(PREFIX)) {
				this.processed.put(name, bean);
			}
			return bean;
		}

	}

	record Partner(Object bean) {
	}

	record Factory(Class<?> type) implements FactoryBean<Object> {

		@Override
		public Object getObject() {
			return BeanUtils.instantiateClass(this.type);
		}

		@Override
		public Class<?> getObjectType() {
			return this.type;
		}

	}

	@SuppressWarnings("serial")
	static class NoTransactions extends AbstractPlatformTransactionManager {

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

	/**
	 * Makes repositories with transactions, as Spring Data does for JPA.
	 */
	static class Repositories
			extends TransactionalRepositoryFactoryBeanSupport<Repository<Object, Object>, Object, Object> {

		Repositories(Class<? extends Repository<Object, Object>> type) {
			super(type);
		}

		@Override
		protected RepositoryFactorySupport doCreateRepositoryFactory() {
			return new KeyValueRepositoryFactory(new KeyValueTemplate(new RecordingAdapter()));
		}

	}

	static class RecordingAdapter extends MapKeyValueAdapter {

		@Override
		public Object get(Object id, String keyspace) {
			Placements.body(Object.class);
			return super.get(id, keyspace);
		}

		@Override
		public long count(String keyspace) {
			Placements.body(Object.class);
			return super.count(keyspace);
		}

	}

	static class RecordingExchange implements HttpExchangeAdapter {

		@Override
		public boolean supportsRequestAttributes() {
			return false;
		}

		@Override
		public void exchange(HttpRequestValues values) {
			Placements.body(Object.class);
		}

		@Override
		public HttpHeaders exchangeForHeaders(HttpRequestValues values) {
			throw new UnsupportedOperationException();
		}

		@Override
		public <T> @Nullable T exchangeForBody(HttpRequestValues values, ParameterizedTypeReference<T> type) {
			Placements.body(Object.class);
			return null;
		}

		@Override
		public ResponseEntity<Void> exchangeForBodilessEntity(HttpRequestValues values) {
			throw new UnsupportedOperationException();
		}

		@Override
		public <T> ResponseEntity<T> exchangeForEntity(HttpRequestValues values, ParameterizedTypeReference<T> type) {
			throw new UnsupportedOperationException();
		}

	}

}
