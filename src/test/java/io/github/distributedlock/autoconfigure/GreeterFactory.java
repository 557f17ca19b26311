package io.github.distributedlock.autoconfigure;

import org.springframework.beans.factory.FactoryBean;

/**
 * A factory of a {@link Greeter}.
 */
class GreeterFactory implements FactoryBean<Greeter> {

	@Override
	public Greeter getObject() {
		return new Greeter();
	}

	@Override
	public Class<?> getObjectType() {
		return Greeter.class;
	}

}
