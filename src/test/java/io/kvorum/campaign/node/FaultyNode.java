package io.kvorum.campaign.node;

import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.kvorum.app.KvorumApplication;
import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.coordination.Coordinator;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.MissedStores;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.StorageEngine.StoreOutcome;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import reactor.core.publisher.Mono;
import reactor.netty.http.HttpResources;

/**
 * A node that {@code src/test/scripts/campaign} can harm: its clock and its network obey
 * a {@link FaultFile}, and {@code -Dcampaign.plant} gives it a flaw that a campaign has
 * to find. All else is the product.
 */
final class FaultyNode {

	private FaultyNode() {
	}

	public static void main(String[] args) {
		Plant plant = Plant.of(System.getProperty("campaign.plant", ""));
		SpringApplication.from(KvorumApplication::main).with(Faults.class).run(plant.addedTo(args));
	}

	/** Without a stereotype, or other tests' component scans would find it. */
	static class Faults {

		@Bean
		@Primary
		static TimeSource faultyTime(FaultFile file) {
			return new FaultyTime(file);
		}

		@Bean
		static FaultFile faultFile() {
			return FaultFile.watched(Path.of(System.getProperty("campaign.faults")));
		}

		/** Before any channel is made, after the number of event loops is known. */
		@Bean
		static BeanFactoryPostProcessor slowNetwork() {
			return factory -> HttpResources.set(new SlowLoops(factory.getBean(FaultFile.class)));
		}

		@Bean
		static BeanPostProcessor plantedFlaw() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String name) {
					Plant plant = Plant.of(System.getProperty("campaign.plant", ""));
					if (bean instanceof Coordinator && plant == Plant.FORGET_HINT) {
						replace(bean, MissedStores.class, _ -> MissedStores.NONE);
					}
					if (bean instanceof LocalReplica && plant == Plant.BREAK_PROMISE) {
						replace(bean, StorageEngine.class, Faults::withoutPromises);
					}
					return bean;
				}

			};
		}

		private static StorageEngine withoutPromises(StorageEngine engine) {
			return (StorageEngine) Proxy.newProxyInstance(StorageEngine.class.getClassLoader(),
					new Class<?>[] { StorageEngine.class }, (_, method, arguments) -> switch (method.getName()) {
						case "prepare" -> Mono.just(StoreOutcome.STORED);
						case "accept" ->
							engine.store((Key) arguments[0], (Entry) arguments[1], (Deadline) arguments[3]);
						default -> method.invoke(engine, arguments);
					});
		}

		/** Replaces what a bean has in its field of this type. */
		private static <T> void replace(Object bean, Class<T> type, UnaryOperator<T> change) {
			try {
				Field field = Stream.of(bean.getClass().getDeclaredFields())
					.filter(declared -> declared.getType() == type)
					.findFirst()
					.orElseThrow();
				field.setAccessible(true);
				field.set(bean, change.apply(type.cast(field.get(bean))));
			}
			catch (IllegalAccessException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
