package io.github.distributedlock;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.SpringBootVersion;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * Holds the packages to their one job each: imports point right only, along the arrows in
 * architecture.md.
 */
class ArchitectureTests {

	private static final String ROOT = DistributedLock.class.getPackageName();

	private static final String REDIS = "backend.redis.";

	/** The name of packages whose public types are for the library alone. */
	private static final String INTERNAL = "internal";

	/**
	 * The packages that a package may use, by the names that follow the root's; the
	 * root's own is empty. A backend is any {@code backend.*}.
	 */
	private static final Map<String, Set<String>> MAY_USE = Map.ofEntries( //
			Map.entry("", Set.of(INTERNAL)), //
			Map.entry(INTERNAL, Set.of("")), //
			Map.entry("backend", Set.of("")), //
			Map.entry("backend.*", Set.of("", "backend")), //
			Map.entry("backend.redis", Set.of("", "backend", REDIS + INTERNAL)), //
			Map.entry(REDIS + INTERNAL, Set.of("")), //
			Map.entry("engine", Set.of("", "backend")), //
			Map.entry("annotation", Set.of("")), //
			Map.entry("reactive", Set.of("", INTERNAL + ".reactive")), //
			Map.entry("aop", Set.of("", "annotation", INTERNAL + ".reactive")), //
			Map.entry(INTERNAL + ".reactive", Set.of("")), //
			Map.entry(INTERNAL + ".observability", Set.of("", "aop", "engine")), //
			Map.entry("concurrent", Set.of("")), //
			Map.entry("integration", Set.of("", "concurrent")), //
			Map.entry("shedlock", Set.of("")));

	private static final String[] WITHOUT_SPRING = { ROOT, ROOT + ".backend", ROOT + ".backend.memory",
			ROOT + ".backend.jdbc", ROOT + ".engine", ROOT + ".concurrent", ROOT + ".shedlock" };

	private static final Set<String> NAMES_THAT_SAY_NOTHING = Set.of("impl", "util", "common", "support");

	/**
	 * The types that users may use, by the names that follow the root's. All that is not
	 * here may change with any version.
	 */
	static final Set<String> API = Set.of( //
			"CurrentLock", "DistributedLock", "EngineSnapshot", "ForwardingDistributedLock", "LockAdmin",
			"LockBackendException", "LockDefinitionException", "LockEvent", "LockException", "LockHandle",
			"LockInterruptedException", "LockListener", "LockLostException", "LockMode", "LockNotAcquiredException",
			"LockRequest", "LockStatus", "LockUpgradeException", "LockedCall", "LockedTask", "OnLost", "ReleaseOn",
			"WaitObserver", //
			"annotation.DistributedLock", "annotation.IfBusy", //
			"aop.DistributedLockAdvisor", //
			"autoconfigure.AutoConfigureDistributedLock", "autoconfigure.DistributedLockAutoConfiguration", //
			"backend.AcquireResult", "backend.Claim", "backend.ForwardingLockBackend", "backend.Holder",
			"backend.KeyState", "backend.LockBackend", "backend.LockBackendFactory", "backend.LockFeature",
			"backend.OptimisticLockBackend", "backend.ReleaseListener", "backend.ReleaseNotification", "backend.Waiter", //
			"backend.memory.InMemoryLockBackend", "backend.jdbc.JdbcLockBackend", "backend.jdbc.JdbcLockSettings", //
			"concurrent.JdkLocks", "integration.DistributedLockRegistry",
			"integration.RenewableDistributedLockRegistry", "shedlock.DistributedLockProvider", //
			REDIS + "RedisLockBackend", REDIS + "RedisLockSettings", REDIS + "Atomicity", REDIS + "Signals", //
			"engine.LockEngine", //
			"reactive.LockContext", "reactive.ReactiveDistributedLock");

	private static final SliceAssignment PACKAGES = new SliceAssignment() {

		@Override
		public SliceIdentifier getIdentifierOf(JavaClass type) {
			String name = type.getPackageName();
			// One room, which the API and what is public for the others share.
			return SliceIdentifier.of(name.equals(ROOT + "." + INTERNAL) ? ROOT : name);
		}

		@Override
		public String getDescription() {
			return "packages";
		}

	};

	private static final SliceAssignment FILES_OF_THE_ENGINE = new SliceAssignment() {

		@Override
		public SliceIdentifier getIdentifierOf(JavaClass type) {
			return type.getPackageName().equals(ROOT + ".engine")
					? SliceIdentifier.of(type.getName().replaceAll("\\$.*", "")) : SliceIdentifier.ignore();
		}

		@Override
		public String getDescription() {
			return "files of the engine";
		}

	};

	// By location, since the tests share the root's name, and each line of Spring Boot
	// has directories of its own.
	private static final JavaClasses LIBRARY = new ClassFileImporter()
		.importUrl(DistributedLock.class.getProtectionDomain().getCodeSource().getLocation());

	@Test
	void importsPointRightOnly() {
		classes().should(useOnlyWhatTheirPackageMay()).check(LIBRARY);
	}

	@Test
	void noPackageNeedsOneThatNeedsIt() {
		SlicesRuleDefinition.slices().assignedFrom(PACKAGES).should().beFreeOfCycles().check(LIBRARY);
	}

	@Test
	void noFileOfTheEngineNeedsOneThatNeedsIt() {
		SlicesRuleDefinition.slices().assignedFrom(FILES_OF_THE_ENGINE).should().beFreeOfCycles().check(LIBRARY);
	}

	@Test
	void theCoreKnowsNoSpring() {
		noClasses().that()
			.resideInAnyPackage(WITHOUT_SPRING)
			.should()
			.dependOnClassesThat()
			.resideInAPackage("org.springframework..")
			.allowEmptyShould(true)
			.check(LIBRARY);
	}

	@Test
	void storesListTheirFeaturesByName() {
		noClasses().that()
			.areAssignableTo(LockBackend.class)
			.should()
			.callMethod(EnumSet.class, "allOf", Class.class)
			.orShould()
			.callMethod(LockFeature.class, "values")
			.because("none offers what will be added")
			.check(LIBRARY);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					reactive, internal.reactive     | reactor.core.., reactor.util.., org.reactivestreams.., kotlin.., kotlinx.., org.springframework.transaction.reactive..
					internal.reactive, autoconfigure | io.micrometer.context..
					engine                          | reactor.blockhound..
					backend.redis.., autoconfigure  | org.springframework.data.., redis.clients.., io.lettuce..
					""")
	void librariesAreKnownInTheirRoomsOnly(String rooms, String libraries) {
		noClasses().that()
			.resideOutsideOfPackages((ROOT + "." + rooms.replace(", ", ", " + ROOT + ".")).split(", "))
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage(libraries.split(", "))
			.check(LIBRARY);
	}

	@Test
	void everyPackageHasAJobAndAName() {
		assertThat(packages()).allSatisfy((name) -> {
			assertThat(name.split("\\.")).doesNotContainAnyElementsOf(NAMES_THAT_SAY_NOTHING);
			assertThat(isKnown(name)).as("package '%s' stands in architecture.md and in MAY_USE", name).isTrue();
		});
	}

	@Test
	void everyPackageIsNullMarked() {
		assertThat(packages()).allSatisfy((name) -> {
			String full = name.isEmpty() ? ROOT : ROOT + "." + name;
			assertThat(LIBRARY.getPackage(full).isAnnotatedWith(NullMarked.class))
				.as("package-info of %s says @NullMarked", full)
				.isTrue();
		});
	}

	@Test
	void theApiIsListedByName() {
		assertThat(LIBRARY.stream()
			.filter((type) -> type.isTopLevelClass() && type.getModifiers().contains(JavaModifier.PUBLIC))
			.filter((type) -> isApi(type) || !isRoom(type.getPackageName()))
			.map((type) -> shortName(type.getName()))).containsExactlyInAnyOrderElementsOf(API);
	}

	/**
	 * A method that answers has an Optional. What only carries data is nullable: a
	 * component of a record, a setting of a request, and all that a store is given or
	 * gives.
	 */
	@Test
	void absenceHasOneFormForEachKind() {
		assumeThat(SpringBootVersion.getVersion()).as("adapters need types that are new in it").startsWith("4.");
		assertThat(LIBRARY.stream()
			.filter((type) -> isApi(type) && type.getModifiers().contains(JavaModifier.PUBLIC))
			.map(JavaClass::reflect)
			.flatMap((type) -> Stream.of(type.getDeclaredMethods()))
			.filter((method) -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
			.filter(ArchitectureTests::hasTheOtherForm)
			.map((method) -> shortName(method.getDeclaringClass().getName()) + "." + method.getName())).isEmpty();
	}

	private static boolean hasTheOtherForm(Method method) {
		Class<?> type = method.getDeclaringClass();
		boolean optional = method.getReturnType().getSimpleName().startsWith("Optional");
		boolean nullable = method.getAnnotatedReturnType().isAnnotationPresent(Nullable.class);
		boolean data = Stream.ofNullable(type.getRecordComponents())
			.flatMap(Stream::of)
			.anyMatch((component) -> component.getAccessor().equals(method)) || type == LockRequest.class
				|| type == WaitObserver.class || shortName(type.getPackageName()).startsWith("backend");
		return data ? optional : nullable;
	}

	/**
	 * A release is compared with the one before by these types, and the policy names
	 * them.
	 */
	@Test
	void whatIsComparedAndPromisedIsApi() throws IOException {
		String pom = Files.readString(Path.of("pom.xml"));
		Set<String> compared = names("include", pom);
		Set<String> ignored = names("exclude", pom);
		assertThat(API.stream()
			.filter((type) -> compared.contains(type) || compared.contains(type.replaceFirst("\\.?\\w+$", "")))
			.filter((type) -> !ignored.contains(type))).containsExactlyInAnyOrderElementsOf(API);
		String policy = Files.readString(Path.of("src/docs/support.md"));
		assertThat(compared).filteredOn((name) -> name.matches(".*\\.[A-Z]\\w+"))
			.allSatisfy((type) -> assertThat(policy).contains("`" + type.replaceFirst(".*\\.", "") + "`"));
	}

	/**
	 * A type that is public for its neighbours is used only inside of the package whose
	 * part the type's package is.
	 */
	@Test
	void whatIsNoApiStaysInItsHouse() {
		classes().should(useOnlyApiOfOtherHouses()).check(LIBRARY);
	}

	private static ArchCondition<JavaClass> useOnlyWhatTheirPackageMay() {
		return new ArchCondition<>("use only what their package may") {

			@Override
			public void check(JavaClass type, ConditionEvents events) {
				for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
					if (!isAllowed(dependency)) {
						events.add(SimpleConditionEvent.violated(dependency, dependency.getDescription()));
					}
				}
			}

		};
	}

	private static ArchCondition<JavaClass> useOnlyApiOfOtherHouses() {
		return new ArchCondition<>("use only API of other houses") {

			@Override
			public void check(JavaClass type, ConditionEvents events) {
				for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
					JavaClass target = dependency.getTargetClass().getBaseComponentType();
					if (isOurs(target.getPackageName()) && !isApi(target)
							&& !isIn(house(target.getPackageName()), type.getPackageName())) {
						events.add(SimpleConditionEvent.violated(dependency, dependency.getDescription()));
					}
				}
			}

		};
	}

	private static Set<String> names(String element, String pom) {
		return Pattern.compile("<" + element + ">" + Pattern.quote(ROOT) + "\\.?([\\w.]*)</")
			.matcher(pom)
			.results()
			.map((match) -> match.group(1))
			.collect(Collectors.toSet());
	}

	private static boolean isApi(JavaClass type) {
		return API.contains(shortName(type.getName()).replaceFirst("\\$.*", ""));
	}

	/**
	 * Returns whether a package's name says that nothing in the package is API.
	 */
	private static boolean isRoom(String packageName) {
		return Set.of(packageName.split("[.]")).contains(INTERNAL);
	}

	private static String house(String packageName) {
		int internal = packageName.indexOf("." + INTERNAL);
		if (internal >= 0) {
			return packageName.substring(0, internal);
		}
		return packageName.equals(ROOT) ? ROOT : packageName.substring(0, packageName.lastIndexOf('.'));
	}

	private static boolean isIn(String house, String packageName) {
		return packageName.equals(house) || packageName.startsWith(house + ".");
	}

	private static boolean isAllowed(Dependency dependency) {
		JavaClass target = dependency.getTargetClass().getBaseComponentType();
		if (!isOurs(target.getPackageName())) {
			return true;
		}
		String from = shortName(dependency.getOriginClass().getPackageName());
		String to = shortName(target.getPackageName());
		return from.equals(to) || from.equals("autoconfigure") || to.equals(INTERNAL)
				|| MAY_USE.getOrDefault(generalName(from), Set.of()).contains(to);
	}

	private static boolean isKnown(String shortName) {
		return shortName.equals("autoconfigure") || MAY_USE.containsKey(generalName(shortName));
	}

	private static String generalName(String shortName) {
		return MAY_USE.containsKey(shortName) ? shortName : shortName.replaceFirst("^backend\\.\\w+$", "backend.*");
	}

	private static Set<String> packages() {
		return Stream.concat(Stream.of(ROOT), LIBRARY.stream().map(JavaClass::getPackageName))
			.map(ArchitectureTests::shortName)
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private static boolean isOurs(String packageName) {
		return packageName.equals(ROOT) || packageName.startsWith(ROOT + ".");
	}

	private static String shortName(String packageName) {
		return packageName.equals(ROOT) ? "" : packageName.substring(ROOT.length() + 1);
	}

}
