package io.github.distributedlock.docs;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.autoconfigure.Contexts;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.OptimisticLockBackend;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.jdbc.JdbcLockSettings;
import io.github.distributedlock.backend.redis.Atomicity;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.backend.redis.Signals;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The tables of the documents are complete, and have the defaults of the code.
 */
class TablesTests {

	@Test
	void properties() {
		Map<String, String> ours = Metadata.defaults();
		ours.keySet().removeIf((name) -> !name.startsWith("distributed-lock."));
		Map<String, String> told = new TreeMap<>();
		table("property", "default").forEach((name, value) -> told.put("distributed-lock." + name, value));
		assertThat(told).isEqualTo(ours);
	}

	@Test
	void propertiesHaveATypeAndADescription() {
		assertThat(Metadata.properties())
			.filteredOn((property) -> property.get("name")
				.toString()
				.matches("distributed-lock\\..*|management\\.endpoint\\.distributedlocks\\..*"))
			.hasSizeGreaterThan(30)
			.allSatisfy((property) -> {
				assertThat(property.get("description")).asString().isNotBlank().endsWith(".");
				assertThat(property.get("type")).asString().matches("[\\w.$<>,]+");
			});
	}

	@Test
	void attributes() {
		Map<String, String> ours = Arrays.stream(DistributedLock.class.getDeclaredMethods())
			.collect(Collectors.toMap(Method::getName, TablesTests::defaultOf));
		assertThat(table("attribute", "default")).isEqualTo(new TreeMap<>(ours));
	}

	/**
	 * A new record needs a decision whether the record may grow.
	 */
	@Test
	void records() {
		Stream<Class<?>> outer = Stream.of(EngineSnapshot.class, LockEvent.class, LockStatus.class, Claim.class,
				AcquireResult.class, Holder.class, Waiter.class, ReleaseNotification.class, LockBackend.class,
				OptimisticLockBackend.class, RedisLockSettings.class, JdbcLockSettings.class);
		Set<String> records = outer
			.flatMap((type) -> Stream.concat(Stream.of(type), Arrays.stream(type.getDeclaredClasses())))
			.filter((type) -> type.isRecord() && Modifier.isPublic(type.getModifiers()))
			.map(Class::getSimpleName)
			.collect(Collectors.toSet());
		assertThat(Documents.table("record", "made by")
			.stream()
			.flatMap((row) -> Stream.of(row.get(0).split(", ")))
			.map((name) -> name.replace("`", "").replaceFirst(".*[.]", ""))
			.collect(Collectors.toSet())).isEqualTo(records);
	}

	@Test
	void requests() {
		LockRequest request = LockRequest.of("k");
		Map<String, String> ours = Arrays.stream(LockRequest.class.getDeclaredMethods())
			.filter((method) -> method.getReturnType() == LockRequest.class && Modifier.isPublic(method.getModifiers())
					&& !Modifier.isStatic(method.getModifiers()))
			.collect(Collectors.toMap(Method::getName, (method) -> defaultOf(request, method.getName())));
		Map<String, String> told = table("method", "default");
		// The keys have none.
		told.put("keys", "[k]");
		assertThat(told).isEqualTo(new TreeMap<>(ours));
	}

	@Test
	void locksAndHandles() {
		assertThat(names("on the lock", "does")).isEqualTo(methods(io.github.distributedlock.DistributedLock.class));
		assertThat(names("on the handle", "does")).isEqualTo(methods(LockHandle.class));
		assertThat(names("on the status", "is"))
			.isEqualTo(methods(LockStatus.class, (method) -> method.getParameterCount() == 0
					&& !Set.of("toString", "hashCode").contains(method.getName())));
	}

	@Test
	void stores() {
		Set<String> methods = methods(LockBackend.class, (method) -> !method.isDefault());
		assertThat(names("method", "the step")).isEqualTo(methods);
		assertThat(names("`LockFeature`", "what it offers", "methods"))
			.isEqualTo(set(LockFeature.values(), Enum::name));
	}

	@Test
	void meters() {
		Duration time = Duration.ofSeconds(1);
		LockRequest request = LockRequest.of("k");
		List<LockEvent> events = List.of(new LockEvent.Acquired(request, "o", time),
				new LockEvent.Released(request, "k", "o", time), new LockEvent.RenewedLate(request, "k", "o", time),
				new LockEvent.Lost(request, "k", "o", LockEvent.Lost.Reason.TAKEN, time), new LockEvent.ReleaseDeferred(
						request, "k", "o", LockBackendException.of("down").retryable(true).build()));
		Contexts.inMemory().withBean(SimpleMeterRegistry.class).run((context) -> {
			context.getBeansOfType(LockListener.class)
				.values()
				.forEach((listener) -> events.forEach(listener::onEvent));
			Map<String, String> ours = context.getBean(MeterRegistry.class)
				.getMeters()
				.stream()
				.collect(Collectors.toMap((meter) -> meter.getId().getName(), TablesTests::tagsOf));
			assertThat(table("meter", "tags")).isEqualTo(new TreeMap<>(ours));
		});
	}

	@Test
	void eventsExceptionsAndReasons() {
		assertThat(names("event", "says")).isEqualTo(set(LockEvent.class.getDeclaredClasses(), Class::getSimpleName));
		assertThat(names("reason", "the lock was lost because"))
			.isEqualTo(set(LockEvent.Lost.Reason.values(), Enum::name));
		Set<String> exceptions = types(LockException.class, LockException.class)
			.filter((type) -> type != LockException.class)
			.map(Class::getSimpleName)
			.collect(Collectors.toCollection(TreeSet::new));
		assertThat(names("exception", "says")).isEqualTo(exceptions);
	}

	@Test
	void valuesOfProperties() {
		assertThat(names("`distributed-lock.redis.signals`")).isEqualTo(set(Signals.values(), TablesTests::asProperty));
		assertThat(names("`distributed-lock.redis.atomicity`"))
			.isEqualTo(set(Atomicity.values(), TablesTests::asProperty));
	}

	@Test
	void threads() throws IOException {
		Pattern name = Pattern.compile("\"distributed-lock-([a-z]+)\"|\\b(?:pool|threads)\\(\"([a-z]+)\"");
		try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
			assertThat(names("thread", "does")).isEqualTo(files.filter((file) -> file.toString().endsWith(".java"))
				.flatMap((file) -> Documents.lines(file).stream())
				.flatMap((line) -> name.matcher(line).results())
				.map((found) -> (found.group(1) != null) ? found.group(1) : found.group(2))
				.collect(Collectors.toCollection(TreeSet::new)));
		}
	}

	/**
	 * The second column by each name in the first. Several names share a value, or have
	 * as many.
	 */
	private static Map<String, String> table(String... heading) {
		Map<String, String> table = new TreeMap<>();
		for (List<String> row : Documents.table(heading)) {
			String[] names = plain(row.get(0)).split(", ");
			String[] values = plain(row.get(1)).split(", ");
			for (int i = 0; i < names.length; i++) {
				table.put(names[i], (values.length == names.length) ? values[i] : plain(row.get(1)));
			}
		}
		return table;
	}

	private static Set<String> names(String... heading) {
		return Documents.table(heading)
			.stream()
			.map((row) -> plain(row.get(0)))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private static Set<String> methods(Class<?> type) {
		return methods(type, (method) -> true);
	}

	private static Set<String> methods(Class<?> type, Predicate<Method> condition) {
		return Stream.of(type.getDeclaredMethods())
			.filter((method) -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
			.filter(condition)
			.map(Method::getName)
			.collect(Collectors.toCollection(TreeSet::new));
	}

	/**
	 * The public types of the same package, not those of other types, that are of a kind.
	 */
	private static Stream<Class<?>> types(Class<?> neighbour, Class<?> kind) {
		return new ClassFileImporter().withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
			.importPackages(neighbour.getPackageName())
			.stream()
			.filter((type) -> type.getPackageName().equals(neighbour.getPackageName()))
			.filter((type) -> type.isTopLevelClass() && type.getModifiers().contains(JavaModifier.PUBLIC))
			.<Class<?>>map(JavaClass::reflect)
			.filter(kind::isAssignableFrom);
	}

	private static <T> Set<String> set(T[] values, Function<? super T, String> name) {
		return Stream.of(values).map(name).collect(Collectors.toCollection(TreeSet::new));
	}

	private static String asProperty(Enum<?> value) {
		return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	private static String plain(String cell) {
		return cell.replace("`", "");
	}

	private static String tagsOf(Meter meter) {
		return meter.getId()
			.getTags()
			.stream()
			.map(Tag::getKey)
			.filter((tag) -> !tag.equals("name"))
			.collect(Collectors.joining(", "));
	}

	private static String defaultOf(Method attribute) {
		Object value = attribute.getDefaultValue();
		boolean empty = value.equals("") || (value instanceof Object[] array && array.length == 0);
		return empty ? "empty" : value.toString();
	}

	private static String defaultOf(LockRequest request, String name) {
		try {
			Object value = LockRequest.class.getMethod(name).invoke(request);
			return (value != null) ? value.toString() : "none";
		}
		catch (ReflectiveOperationException ex) {
			throw new AssertionError(ex);
		}
	}

}
