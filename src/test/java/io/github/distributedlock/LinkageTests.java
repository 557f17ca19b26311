package io.github.distributedlock;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitCallTarget;
import com.tngtech.archunit.core.domain.AccessTarget.ConstructorCallTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The jar is compiled once, for all lines of Spring Boot. A method whose result has
 * another type on another line compiles on both, and is missing where the jar was not
 * compiled.
 */
class LinkageTests {

	/**
	 * Types that stand in for types of the newer line only, and are loaded only where
	 * those are there.
	 */
	private static final Set<String> OF_THE_NEWER_LINE = Set.of("LeasedLock", "RenewableDistributedLockRegistry");

	@Test
	void everythingThatIsCalledExists() {
		Set<String> missing = new TreeSet<>();
		for (JavaClass type : new ClassFileImporter()
			.importUrl(DistributedLock.class.getProtectionDomain().getCodeSource().getLocation())) {
			for (JavaCodeUnitAccess<?> access : type.getCodeUnitAccessesFromSelf()) {
				if (access.getTarget() instanceof CodeUnitCallTarget target && isForThisLine(target.getOwner())
						&& !exists(target)) {
					missing.add(access.getDescription());
				}
			}
		}
		assertThat(missing).isEmpty();
	}

	private static boolean isForThisLine(JavaClass type) {
		return !OF_THE_NEWER_LINE.contains(type.getSimpleName())
				|| ClassUtils.isPresent("org.springframework.integration.support.locks.DistributedLock", null);
	}

	private static boolean exists(CodeUnitCallTarget target) {
		Class<?> owner = target.getOwner().reflect();
		Class<?>[] parameters = target.getRawParameterTypes().stream().map(JavaClass::reflect).toArray(Class<?>[]::new);
		if (target instanceof ConstructorCallTarget) {
			return Arrays.stream(owner.getDeclaredConstructors())
				.anyMatch((one) -> Arrays.equals(one.getParameterTypes(), parameters));
		}
		Class<?> result = target.getRawReturnType().reflect();
		return above(owner, new HashSet<>()).stream()
			.flatMap((type) -> Stream.of(type.getDeclaredMethods()))
			.anyMatch((one) -> one.getName().equals(target.getName()) && one.getReturnType() == result
					&& Arrays.equals(one.getParameterTypes(), parameters));
	}

	private static Set<Class<?>> above(Class<?> type, Set<Class<?>> found) {
		found.add(type);
		Stream.concat(Stream.ofNullable(type.getSuperclass()), Stream.of(type.getInterfaces()))
			.forEach((one) -> above(one, found));
		if (type.isInterface() || type.isArray()) {
			found.add(Object.class);
		}
		return found;
	}

}
