package io.kvorum.campaign.node;

import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.stream.Stream;

import io.kvorum.app.KvorumApplication;
import io.kvorum.clock.TimeSource;
import io.kvorum.coordination.Coordinator;
import io.kvorum.replication.MissedStores;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
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
					if (bean instanceof Coordinator
							&& Plant.of(System.getProperty("campaign.plant", "")).forgetsHints) {
						forgetHints(bean);
					}
					return bean;
				}

			};
		}

		private static void forgetHints(Object coordinator) {
			try {
				Field missed = Stream.of(Coordinator.class.getDeclaredFields())
					.filter(field -> field.getType() == MissedStores.class)
					.findFirst()
					.orElseThrow();
				missed.setAccessible(true);
				missed.set(coordinator, MissedStores.NONE);
			}
			catch (IllegalAccessException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
