package io.github.distributedlock.test;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/**
 * For applications that Spring Boot configures: keeps it from giving them the database
 * that a few tests have put on the class path. It has another name on each line.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(excludeName = { "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
		"org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration" })
public class NoDatabase {

}
