package io.github.distributedlock.autoconfigure;

import org.springframework.beans.factory.FactoryBean;

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
