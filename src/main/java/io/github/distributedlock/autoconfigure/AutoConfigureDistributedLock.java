package io.github.distributedlock.autoconfigure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.test.context.TestPropertySource;

/**
 * Locks annotated methods in a sliced test, in the memory of the test's JVM. The
 * annotation stands on a test class beside {@code @WebMvcTest}, {@code @DataJpaTest} or
 * another slice. Without this annotation a slice leaves out the auto-configuration of
 * locks, and annotated methods run unlocked.
 * <p>
 * The locks are in memory whatever the application's {@code distributed-lock.backend}
 * says. For locks in Redis use
 * {@code @ImportAutoConfiguration(DistributedLockAutoConfiguration.class)} instead.
 * <p>
 * The annotation is for tests only, and is in the library's jar so that a test needs no
 * second artifact of the same version. No application loads the class:
 * {@code spring-test}, whose annotation it has, is an optional dependency.
 *
 * @since 1.0
 */
// Only tests read this property, so that no application gets locks in memory by accident.
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
@TestPropertySource(properties = "distributed-lock.backend=memory")
public @interface AutoConfigureDistributedLock {

}
