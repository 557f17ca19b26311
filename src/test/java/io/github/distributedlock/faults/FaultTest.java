package io.github.distributedlock.faults;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test that is a row of the table without a {@link Trial}: it runs as often as a row
 * has trials. A parameter of the test is an enum, of which each constant has a row.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@TestTemplate
@ExtendWith(FaultTestRows.class)
public @interface FaultTest {

	/** The fault. */
	String value();

	/** The assertion of the test: the remark of the row. */
	String promise();

	/**
	 * The client or the database of a test without a parameter; for others the names of
	 * the constants, all of them if there are none.
	 */
	String[] with() default {};

}
