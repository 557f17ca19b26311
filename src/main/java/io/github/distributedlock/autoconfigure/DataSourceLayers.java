package io.github.distributedlock.autoconfigure;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The layers of a data source, each of which gives connections of the next layer:
 * proxies, pools, and the data source behind them. A layer is found by the getters and
 * the target of the layer before, so the search ends at a layer that shows neither. If a
 * hidden layer leads to another database all the same, the store finds out at the first
 * connection to that database.
 */
final class DataSourceLayers {

	/**
	 * Classes that choose one of several databases for each connection or statement.
	 */
	private static final Set<String> ROUTERS = Set.of(
			"org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource",
			"com.baomidou.dynamic.datasource.ds.AbstractRoutingDataSource",
			"org.apache.shardingsphere.driver.jdbc.core.datasource.ShardingSphereDataSource");

	private static final Pattern NAME_OF_ROUTER = Pattern
		.compile(".*(Routing|Sharding|MasterSlave|Replication|Read_?Write).*DataSource.*");

	private DataSourceLayers() {
	}

	/**
	 * Returns the data source behind proxies that hand out the connection of the running
	 * transaction, or fetch connections late.
	 */
	static DataSource withoutTransactions(DataSource dataSource) {
		DataSource found = dataSource;
		while (found instanceof TransactionAwareDataSourceProxy || found instanceof LazyConnectionDataSourceProxy) {
			found = Objects.requireNonNull(((DelegatingDataSource) found).getTargetDataSource());
		}
		return found;
	}

	/**
	 * Returns the name of the class that leads to several databases, if there is one.
	 */
	static Optional<String> router(DataSource dataSource) {
		List<DataSource> layers = of(dataSource);
		return layers.stream()
			.map(Object::getClass)
			.flatMap(DataSourceLayers::hierarchy)
			.filter((type) -> ROUTERS.contains(type.getName())
					|| NAME_OF_ROUTER.matcher(type.getSimpleName()).matches())
			.map(Class::getName)
			.findFirst()
			.or(() -> layers.stream().flatMap(DataSourceLayers::hiddenRouters).findFirst());
	}

	private static Stream<Class<?>> hierarchy(Class<?> type) {
		return Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass);
	}

	/**
	 * Finds routers behind proxies that show the wrapped data source by
	 * {@code isWrapperFor} only.
	 */
	private static Stream<String> hiddenRouters(DataSource layer) {
		return ROUTERS.stream().filter((name) -> {
			try {
				return layer.isWrapperFor(ClassUtils.forName(name, layer.getClass().getClassLoader()));
			}
			catch (ClassNotFoundException | LinkageError | SQLException | RuntimeException ex) {
				return false;
			}
		});
	}

	/**
	 * Returns whether all threads would share one connection, in which a lock would be
	 * part of the caller's transaction.
	 */
	static boolean isSingleConnection(DataSource dataSource) {
		return of(dataSource).stream().anyMatch(SingleConnectionDataSource.class::isInstance);
	}

	private static List<DataSource> of(DataSource dataSource) {
		List<DataSource> layers = new ArrayList<>();
		add(dataSource, layers);
		return layers;
	}

	private static void add(@Nullable Object dataSource, List<DataSource> layers) {
		if (!(dataSource instanceof DataSource layer) || layers.stream().anyMatch((known) -> known == layer)) {
			return;
		}
		layers.add(layer);
		add(AopProxyUtils.getSingletonTarget(layer), layers);
		for (Method method : layer.getClass().getMethods()) {
			if (isGetter(method)) {
				add(value(method, layer), layers);
			}
		}
	}

	private static boolean isGetter(Method method) {
		return method.getParameterCount() == 0 && method.getName().startsWith("get")
				&& DataSource.class.isAssignableFrom(method.getReturnType())
				&& !Modifier.isStatic(method.getModifiers());
	}

	private static @Nullable Object value(Method method, DataSource layer) {
		try {
			ReflectionUtils.makeAccessible(method);
			return method.invoke(layer);
		}
		catch (ReflectiveOperationException | RuntimeException ex) {
			return null; // The layer shows no other layer.
		}
	}

}
