package io.kvorum.app;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.bind.validation.BindValidationException;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.util.unit.DataSize;
import org.springframework.validation.FieldError;

/**
 * Collects all violations of the properties of a node; Spring alone stops at the first. A
 * value that cannot be converted is noted and replaced by its default, so that the others
 * are checked too. Then come constraints, unknown names, relations and foreign
 * properties.
 * <p>
 * One object for each binding. Properties outside of kvorum pass through unchanged.
 */
final class ViolationCollector extends AbstractBindHandler {

	private static final Logger logger = LoggerFactory.getLogger(ViolationCollector.class);

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("kvorum");

	/** Parent of the secret. An unknown name below it may be the secret, misspelt. */
	private static final ConfigurationPropertyName CLUSTER = PREFIX.append("cluster");

	private static final ConfigurationPropertyName TAKEOVER = PREFIX.append("takeover");

	private static final ConfigurationPropertyName PATH = PREFIX.append("storage.path");

	private static final ConfigurationPropertyName SECRET = CLUSTER.append("secret");

	private static final Pattern SECRETS = Pattern.compile("secret|key|password|token|credential");

	/**
	 * Variables of the environment that are none of a node: of the command line, of
	 * clients, and those that Kubernetes makes of services.
	 */
	private static final Pattern OTHERS = Pattern.compile(
			"KVORUM_(URL|MANAGEMENT_URL|API_KEY(_FILE)?|JAR|CLIENT_.*|(.*_)?SERVICE_(HOST|PORT.*)|(.*_)?PORT(_.*)?)");

	/** Of applications that use Kvorum, which may share a configuration with nodes. */
	private static final ConfigurationPropertyName CLIENT = PREFIX.append("client");

	/** Reports the properties that are not bound. For that it must see all that are. */
	private final BindHandler unknown = new NoUnboundElementsBindHandler(BindHandler.DEFAULT,
			new UnboundElementsSourceFilter());

	private final Set<ConfigurationPropertyName> known = new HashSet<>();

	private final List<Violation> violations = new ArrayList<>();

	ViolationCollector(BindHandler parent) {
		super(parent);
	}

	@Override
	public <T> @Nullable Bindable<T> onStart(ConfigurationPropertyName name, Bindable<T> target, BindContext context) {
		this.known.add(name);
		this.unknown.onStart(name, target, context);
		return super.onStart(name, target, context);
	}

	@Override
	public @Nullable Object onSuccess(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
			Object result) {
		this.unknown.onSuccess(name, target, context, result);
		return super.onSuccess(name, target, context, result);
	}

	@Override
	public @Nullable Object onFailure(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
			Exception error) throws Exception {
		if (!PREFIX.isAncestorOf(name)) {
			return super.onFailure(name, target, context, error);
		}
		this.violations.add(new Violation(name.toString(), given(name, context), "must be " + kind(target)));
		return null;
	}

	@Override
	public void onFinish(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
			@Nullable Object result) throws Exception {
		if (!PREFIX.equals(name)) {
			super.onFinish(name, target, context, result);
			return;
		}
		checkConstraints(name, target, context, result);
		checkNames(name, target, context, result);
		checkPath(context);
		tellUnknownVariables(context);
		if (result instanceof KvorumProperties properties) {
			this.violations.addAll(PropertyRelations.violatedBy(properties));
		}
		this.violations.addAll(ForeignProperties.violatedBy(context.getSources(), context.getBinder()));
		if (!this.violations.isEmpty()) {
			throw new WrongPropertiesException(this.violations);
		}
	}

	private void checkConstraints(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
			@Nullable Object result) throws Exception {
		try {
			super.onFinish(name, target, context, result);
		}
		catch (BindValidationException ex) {
			ex.getValidationErrors().forEach(error -> {
				FieldError field = (FieldError) error;
				ConfigurationPropertyName property = PREFIX.append(dashed(field.getField()));
				this.violations.add(new Violation(property.toString(), given(property, context),
						String.valueOf(field.getDefaultMessage())));
			});
		}
	}

	private void checkNames(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
			@Nullable Object result) throws Exception {
		try {
			this.unknown.onFinish(name, target, context, result);
		}
		catch (UnboundConfigurationPropertiesException ex) {
			ex.getUnboundProperties()
				.stream()
				// Known ones without a value, or with a wrong one, are not bound either.
				.filter(property -> !this.known.contains(property.getName())
						&& !CLIENT.isAncestorOf(property.getName()))
				.map(property -> new Violation(property.getName().toString(),
						mayBeSecret(property.getName()) ? Violation.HIDDEN : String.valueOf(property.getValue()),
						"there is no such property"))
				.forEach(this.violations::add);
		}
	}

	/**
	 * Warns of variables of the environment that look like properties and are none. They
	 * are not refused: they may be for something else.
	 */
	private void tellUnknownVariables(BindContext context) {
		Set<String> letters = this.known.stream().map(ForeignProperties::letters).collect(Collectors.toSet());
		for (ConfigurationPropertySource source : context.getSources()) {
			if (source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource environment) {
				Stream.of(environment.getPropertyNames())
					.filter(name -> name.startsWith("KVORUM_") && !OTHERS.matcher(name).matches())
					.filter(name -> !letters.contains(ForeignProperties.letters(name)))
					.forEach(name -> logger.warn("{} is no property of a node, and ignored", name));
			}
		}
	}

	/**
	 * Refuses an empty path of the store, which is most likely a variable that is not
	 * set: the default would be another store.
	 */
	private void checkPath(BindContext context) {
		BindResult<String> path = context.getBinder().bind(PATH, Bindable.of(String.class));
		if (path.isBound() && path.get().isBlank()) {
			this.violations.add(new Violation(PATH.toString(), path.get().strip(),
					"must name a directory: leave the property out for ./data"));
		}
	}

	private static String dashed(String path) {
		return Arrays.stream(path.split("\\.", -1))
			.map(DataObjectPropertyName::toDashedForm)
			.collect(Collectors.joining("."));
	}

	/** The value as written, "5 m" instead of "PT5M". The secret is never shown. */
	private static String given(ConfigurationPropertyName name, BindContext context) {
		return name.equals(SECRET) ? Violation.HIDDEN
				: context.getBinder().bind(name, Bindable.of(String.class)).orElse("");
	}

	private static boolean mayBeSecret(ConfigurationPropertyName unknown) {
		return CLUSTER.isAncestorOf(unknown) || TAKEOVER.isAncestorOf(unknown)
				|| SECRETS.matcher(unknown.toString()).find();
	}

	private static String kind(Bindable<?> target) {
		Class<?> type = target.getType().toClass();
		if (type.isEnum()) {
			return Arrays.stream(type.getEnumConstants())
				.map(constant -> constant.toString().toLowerCase(Locale.ROOT))
				.collect(Collectors.joining(" or "));
		}
		if (type == Duration.class) {
			return "a duration, such as 500ms, 10s, 5m, 3h or 10d";
		}
		if (type == DataSize.class) {
			return "a size, such as 512KB, 64MB or 1GB";
		}
		return (type == int.class) ? "a whole number" : "a " + type.getSimpleName();
	}

}
