package io.kvorum;

import java.security.SecureRandom;
import java.time.Clock;
import java.time.InstantSource;
import java.util.Calendar;
import java.util.Date;
import java.util.UUID;
import java.util.random.RandomGenerator;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.GeneralCodingRules;
import org.jspecify.annotations.NullMarked;
import org.reactivestreams.Publisher;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;
import reactor.core.publisher.BaseSubscriber;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.ENUMS;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.INTERFACES;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * The package table of the architecture, and what the code must not do. A package that
 * does not exist yet breaks no rule; one that is not in the table does.
 */
@AnalyzeClasses(packages = "io.kvorum", importOptions = ArchitectureTest.MainClasses.class)
class ArchitectureTest {

	private static final String[] PURE = { "io.kvorum.kv..", "io.kvorum.clock..", "io.kvorum.quorum..",
			"io.kvorum.cluster..", "io.kvorum.access.." };

	private static final String[] EDGES = { "io.kvorum.api..", "io.kvorum.transport..", "io.kvorum.wire..",
			"io.kvorum.observability..", "io.kvorum.app..", "io.kvorum.cli.." };

	private static final String[] SOURCES_OF_TIME_AND_CHANCE = { "io.kvorum.clock..", "io.kvorum.app..",
			"io.kvorum.cli.." };

	@ArchTest
	static final ArchRule arrowsPointDownThePackageTable = layeredArchitecture()
		.consideringOnlyDependenciesInAnyPackage("io.kvorum..")
		.withOptionalLayers(true)
		.layer("kv")
		.definedBy("io.kvorum.kv..")
		.layer("clock")
		.definedBy("io.kvorum.clock..")
		.layer("quorum")
		.definedBy("io.kvorum.quorum..")
		.layer("cluster")
		.definedBy("io.kvorum.cluster..")
		.layer("access")
		.definedBy("io.kvorum.access..")
		.layer("storage")
		.definedBy("io.kvorum.storage")
		.layer("rocksdb")
		.definedBy("io.kvorum.storage.rocksdb..")
		.layer("operation")
		.definedBy("io.kvorum.operation..")
		.layer("replication")
		.definedBy("io.kvorum.replication..")
		.layer("range")
		.definedBy("io.kvorum.range..")
		.layer("coordination")
		.definedBy("io.kvorum.coordination..")
		.layer("cassandra")
		.definedBy("io.kvorum.cassandra..")
		.layer("antientropy")
		.definedBy("io.kvorum.convergence.antientropy..")
		.layer("tombstones")
		.definedBy("io.kvorum.convergence.tombstones..")
		.layer("hints")
		.definedBy("io.kvorum.convergence.hints..")
		.layer("quarantine")
		.definedBy("io.kvorum.convergence.quarantine..")
		.layer("change")
		.definedBy("io.kvorum.convergence.change..")
		.layer("convergence")
		.definedBy("io.kvorum.convergence")
		.layer("layout")
		.definedBy("io.kvorum.layout..")
		.layer("transport")
		.definedBy("io.kvorum.transport..")
		.layer("wire")
		.definedBy("io.kvorum.wire..")
		.layer("api")
		.definedBy("io.kvorum.api..")
		.layer("backup")
		.definedBy("io.kvorum.backup..")
		.layer("observability")
		.definedBy("io.kvorum.observability..")
		.layer("app")
		.definedBy("io.kvorum.app..")
		.layer("cli")
		.definedBy("io.kvorum.cli..")
		.whereLayer("kv")
		.mayNotAccessAnyLayer()
		.whereLayer("clock")
		.mayOnlyAccessLayers("kv")
		.whereLayer("quorum")
		.mayOnlyAccessLayers("kv")
		.whereLayer("cluster")
		.mayOnlyAccessLayers("kv")
		.whereLayer("access")
		.mayOnlyAccessLayers("kv", "clock")
		.whereLayer("storage")
		.mayOnlyAccessLayers("kv", "clock")
		.whereLayer("rocksdb")
		.mayOnlyAccessLayers("kv", "clock", "storage")
		.whereLayer("operation")
		.mayOnlyAccessLayers("kv")
		.whereLayer("replication")
		.mayOnlyAccessLayers("kv", "clock", "quorum", "cluster", "storage", "operation")
		.whereLayer("range")
		.mayOnlyAccessLayers("kv", "clock", "quorum", "cluster", "storage", "operation", "replication")
		.whereLayer("coordination")
		.mayOnlyAccessLayers("kv", "clock", "quorum", "cluster", "storage", "operation", "replication", "range")
		.whereLayer("cassandra")
		.mayOnlyAccessLayers("kv", "clock", "operation")
		.whereLayer("change")
		.mayOnlyAccessLayers("kv", "clock", "quorum", "cluster", "storage", "replication")
		.whereLayer("antientropy")
		.mayOnlyAccessLayers("kv", "clock", "quorum", "cluster", "storage", "replication", "change")
		.whereLayer("tombstones")
		.mayOnlyAccessLayers("kv", "clock", "storage", "replication", "antientropy")
		.whereLayer("hints")
		.mayOnlyAccessLayers("kv", "clock", "quorum", "cluster", "storage", "replication")
		.whereLayer("quarantine")
		.mayOnlyAccessLayers("kv", "clock", "quorum", "cluster", "storage", "replication")
		.whereLayer("convergence")
		.mayOnlyAccessLayers("clock", "cluster", "storage", "antientropy", "hints", "change", "quarantine")
		.whereLayer("layout")
		.mayOnlyAccessLayers("kv", "clock", "cluster", "operation", "change")
		.whereLayer("transport")
		.mayOnlyAccessLayers("kv", "clock", "quorum", "cluster", "storage", "replication")
		.whereLayer("wire")
		.mayNotAccessAnyLayer()
		.whereLayer("api")
		.mayOnlyAccessLayers("kv", "clock", "access", "operation", "wire")
		.whereLayer("backup")
		.mayOnlyAccessLayers("kv", "clock", "storage")
		.whereLayer("observability")
		.mayNotBeAccessedByAnyLayer()
		.whereLayer("app")
		.mayNotBeAccessedByAnyLayer()
		.whereLayer("cli")
		.mayNotAccessAnyLayer()
		.whereLayer("cli")
		.mayOnlyBeAccessedByLayers("app")
		.ensureAllClassesAreContainedInArchitecture()
		.because("each package can be read, tested and replaced knowing only those above it in the table");

	@ArchTest
	static final ArchRule noPackageCycles = slices().matching("io.kvorum.(**)")
		.should()
		.beFreeOfCycles()
		.because("packages that need each other are one package");

	@ArchTest
	static final ArchRule keysAndEntriesNeedOnlyTheJdk = classes().that()
		.resideInAPackage("io.kvorum.kv..")
		.should()
		.onlyDependOnClassesThat()
		.resideInAnyPackage("java..", "org.jspecify..", "io.kvorum.kv..")
		.because("everything else is made of them");

	@ArchTest
	static final ArchRule purePackagesHaveNoFrameworks = noClasses().that()
		.resideInAnyPackage(PURE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework..", "reactor..", "org.reactivestreams..", "io.netty..",
				"org.rocksdb..", "org.slf4j..", "io.micrometer..")
		.because("decisions are pure values, tested in microseconds")
		.allowEmptyShould(true);

	@ArchTest
	static final ArchRule oneEngineKnowsRocksDb = noClasses().that()
		.resideOutsideOfPackage("io.kvorum.storage.rocksdb..")
		.should()
		.dependOnClassesThat()
		.resideInAPackage("org.rocksdb..")
		.because("its calls are safe only behind the gate that keeps the database open");

	@ArchTest
	static final ArchRule oneStoreKnowsTheDriverOfCassandra = noClasses().that()
		.resideOutsideOfPackages("io.kvorum.cassandra..", "io.kvorum.app..")
		.should()
		.dependOnClassesThat()
		.resideInAPackage("com.datastax..")
		.because("a node with a store of its own loads nothing of it");

	@ArchTest
	static final ArchRule springAndHttpStayAtTheEdges = noClasses().that()
		.resideOutsideOfPackages(EDGES)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework..", "io.netty..", "reactor.netty..", "java.net.http..")
		.because("operations and storage run in a test without a server or a container");

	@ArchTest
	static final ArchRule beansAreWhereASearchForThemLooks = noClasses().that()
		.resideOutsideOfPackages("io.kvorum.api..", "io.kvorum.app..", "io.kvorum.observability..")
		.should()
		.beMetaAnnotatedWith(Component.class)
		.because("KvorumApplication searches in these packages only, since each start pays for the search");

	@ArchTest
	static final ArchRule metersStayInObservability = noClasses().that()
		.resideOutsideOfPackages("io.kvorum.observability..", "io.kvorum.app..")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("io.micrometer..", "org.springframework.boot.micrometer..")
		.because("the others tell what happens in their own words, as small interfaces");

	@ArchTest
	static final ArchRule tracesStayInObservability = noClasses().that()
		.resideOutsideOfPackage("io.kvorum.observability..")
		.should()
		.dependOnClassesThat()
		.resideInAPackage("io.opentelemetry..")
		.because("a node that does not trace loads nothing of it, and pays nothing");

	@ArchTest
	static final ArchRule observabilityKnowsOnlyTheEventsOfTheApi = noClasses().that()
		.resideInAPackage("io.kvorum.observability..")
		.should()
		.dependOnClassesThat(resideInAPackage("io.kvorum.api..").and(DescribedPredicate.not(INTERFACES.or(ENUMS))))
		.because("it is told what happens and looks into nothing");

	@ArchTest
	static final ArchRule nothingBlocks = noClasses().should()
		.accessTargetWhere(access(Publisher.class, "block|blockOptional|blockFirst|blockLast|toIterable|toStream"))
		.because("an event loop that waits holds up every connection on it");

	@ArchTest
	static final ArchRule nothingSubscribesInTheMiddleOfAFlow = noClasses().that()
		.areNotAssignableTo(SmartLifecycle.class)
		.and()
		.areNotAssignableTo(BaseSubscriber.class)
		.should()
		.accessTargetWhere(access(Publisher.class, "subscribe"))
		.because("the caller would lose the errors, the cancellation and the back-pressure");

	@ArchTest
	static final ArchRule timeComesFromTheTimeSource = noClasses().that()
		.resideOutsideOfPackages(SOURCES_OF_TIME_AND_CHANCE)
		.should()
		.accessTargetWhere(access(System.class, "currentTimeMillis|nanoTime").or(now())
			.or(access(Clock.class, "system.*|tick.*"))
			.or(access(InstantSource.class, "system"))
			.or(access(Calendar.class, "getInstance"))
			.or(newDateOfNow()))
		.because("tests advance time, they do not wait for it");

	@ArchTest
	static final ArchRule chanceComesFromTheApplication = noClasses().that()
		.resideOutsideOfPackages(SOURCES_OF_TIME_AND_CHANCE)
		.should()
		.accessTargetWhere(access(RandomGenerator.class, ".*").or(access(SecureRandom.class, ".*"))
			.or(access(Math.class, "random"))
			.or(access(StrictMath.class, "random"))
			.or(access(UUID.class, "randomUUID")))
		.because("a run can be repeated from its seed");

	@ArchTest
	static final ArchRule noStandardStreams = noClasses().that()
		.resideOutsideOfPackage("io.kvorum.cli..")
		.should(GeneralCodingRules.ACCESS_STANDARD_STREAMS)
		.because("a node logs; the command line is for pipes");

	@ArchTest
	static final ArchRule noJavaUtilLogging = noClasses().should()
		.dependOnClassesThat()
		.resideInAPackage("java.util.logging..")
		.because("there is one logging API, SLF4J");

	@ArchTest
	static final ArchRule noFieldInjection = GeneralCodingRules.NO_CLASSES_SHOULD_USE_FIELD_INJECTION;

	@ArchTest
	static final ArchRule everyPackageIsNullMarked = classes().should(beInANullMarkedPackage())
		.because("a null that is not declared is found by the compiler, not by a user");

	/**
	 * A call of, or a reference to, a method or constructor of a type or its subtypes.
	 */
	private static DescribedPredicate<JavaAccess<?>> access(Class<?> owner, String names) {
		return DescribedPredicate.describe("%s.(%s)".formatted(owner.getSimpleName(), names),
				access -> access.getTargetOwner().isAssignableTo(owner) && access.getName().matches(names));
	}

	/** {@code now()} of any type of java.time, unless it is given a clock. */
	private static DescribedPredicate<JavaAccess<?>> now() {
		return DescribedPredicate.describe("java.time now",
				access -> access.getTargetOwner().getPackageName().equals("java.time")
						&& access.getTarget().getFullName().matches(".*\\.now\\((?!java.time.Clock).*"));
	}

	private static DescribedPredicate<JavaAccess<?>> newDateOfNow() {
		return DescribedPredicate.describe("new Date()", access -> access.getTargetOwner().isEquivalentTo(Date.class)
				&& access.getTarget().getFullName().endsWith("<init>()"));
	}

	private static ArchCondition<JavaClass> beInANullMarkedPackage() {
		return new ArchCondition<>("be in a @NullMarked package") {
			@Override
			public void check(JavaClass type, ConditionEvents events) {
				boolean marked = type.getPackage().isAnnotatedWith(NullMarked.class);
				events.add(new SimpleConditionEvent(type, marked, "%s is in %s, which has no @NullMarked package-info"
					.formatted(type.getName(), type.getPackageName())));
			}
		};
	}

	/** Without tests, also where {@code -Pquick} compiles them. */
	static final class MainClasses implements ImportOption {

		@Override
		public boolean includes(Location location) {
			return !location.contains("/test-classes/");
		}

	}

}
