"""Policies for the manifests below k8s/, beyond the schemas of Kubernetes, and planted violations that show that each policy works.

A policy is a function of a Deployment that yields what is wrong, one sentence each. A plant is a change of manifests that
one policy has to notice.

Python instead of conftest or Kyverno: only 30 of these lines are an engine, the rest are rules and plants, which any tool needs,
and CI would have to compile that tool.
"""

import copy
import functools
import itertools
import re

import yaml

MIB = 1 << 20
JVM_BYTES = 150 * MIB  # README, "Memory"
STOP_SECONDS = 10  # README, "Stopping": a node ends in under 10 s
HALT_SECONDS = 15  # StorageFailure: of one whose disk hangs
HEALTH = "/actuator/health/"
NODE = "kvorum"  # the name of its container
# Parts of an SSL bundle; a part without which a node shows no certificate, or does not follow it, comes first.
BUNDLE = "SPRING_SSL_BUNDLE_PEM_"
BUNDLE_NEEDS = ["KEYSTORE_CERTIFICATE", "KEYSTORE_PRIVATEKEY", "KEYSTORE_VERIFYKEYS", "RELOADONUPDATE"]
BUNDLE_PARTS = [*BUNDLE_NEEDS, "KEYSTORE_PRIVATEKEYPASSWORD", "KEYSTORE_TYPE", "TRUSTSTORE_CERTIFICATE", "TRUSTSTORE_TYPE",
                "KEY_ALIAS", "KEY_PASSWORD", "OPTIONS_CIPHERS", "OPTIONS_ENABLEDPROTOCOLS", "PROTOCOL"]
BUNDLE_SWITCHES = ["KEYSTORE_VERIFYKEYS", "RELOADONUPDATE"]
BUNDLE_WATCH = "SPRING_SSL_BUNDLE_WATCH_"
BUNDLE_USERS = ["kvorum.cluster.ssl.bundle", "server.ssl.bundle", "management.server.ssl.bundle"]
BUNDLE_CLIENTS = ["management.opentelemetry.tracing.export.otlp.ssl.bundle"]  # show no certificate of their own
SIZES = {"": 1, "B": 1, "k": 1 << 10, "K": 1 << 10, "KB": 1 << 10, "Ki": 1 << 10, "m": MIB, "M": MIB, "MB": MIB, "Mi": MIB,
         "g": 1 << 30, "G": 1 << 30, "GB": 1 << 30, "Gi": 1 << 30}

policies = {}
plants = []


class Deployment:
    """The manifests of one overlay, the node in the middle."""

    def __init__(self, overlay, manifests, metadata):
        self.overlay = overlay
        self.manifests = manifests
        self.metadata = metadata
        [self.set] = self.of("StatefulSet") or self.of("Deployment")
        self.is_gateway = self.set["kind"] == "Deployment"
        self.template = self.set["spec"]["template"]
        self.pod = self.template["spec"]
        self.containers = self.pod["containers"] + self.pod.get("initContainers", [])
        # Not the first one: a patch puts a sidecar in front of it.
        [self.node] = [container for container in self.pod["containers"] if container["name"] == NODE]
        self.labels = self.template["metadata"]["labels"]
        self.ports = {port.get("name"): port["containerPort"] for port in self.node.get("ports", [])}
        self.env = {variable["name"]: variable.get("value") for variable in self.node.get("env", [])}

    def of(self, kind):
        return [manifest for manifest in self.manifests if manifest["kind"] == kind]

    @property
    def selecting(self):
        """The Services of the nodes."""
        return [service for service in self.of("Service") if matches(service["spec"].get("selector"), self.labels)]

    @functools.cached_property
    def properties(self):
        """The properties of a node: the files of its configuration, then its environment."""
        found = {}
        for volume in self.pod["volumes"]:
            for config in self.of("ConfigMap"):
                if volume.get("configMap", {}).get("name") == config["metadata"]["name"]:
                    for text in config["data"].values():
                        found.update(flat(yaml.safe_load(text)))
        for variable, value in self.env.items():
            if variable.startswith("KVORUM_"):
                # An underscore in the environment is a dot or a dash in a property.
                bare = {name.replace(".", "").replace("-", ""): name for name in self.metadata}
                found[bare.get(variable.replace("_", "").lower(), variable)] = value
        return found

    def bundles(self, users):
        """The SSL bundles that these properties name."""
        used = {self.properties.get(name) or self.env.get(variable(name)) for name in users}
        return sorted(used - {None})

    def said(self, name):
        """What the manifests say of a property of Spring Boot's; the environment wins over files."""
        return self.env.get(variable(name), self.properties.get(name))

    def size(self, name):
        """Returns a size in bytes; None if it is not given and the node finds it by itself."""
        text = self.properties.get(name, self.metadata.get(name, {}).get("defaultValue"))
        return None if text is None else bytes_of(text)

    def jvm(self, option):
        """Returns a size among the options of the JVM; the last one counts."""
        found = re.findall(option + r"(\w+)", self.env.get("JDK_JAVA_OPTIONS") or "")
        return bytes_of(found[-1]) if found else None


# Variables that the command kvorum reads, in a container too.
COMMAND_LINE = {"KVORUM_URL", "KVORUM_MANAGEMENT_URL", "KVORUM_API_KEY", "KVORUM_API_KEY_FILE"}


def flat(tree, prefix=""):
    if not isinstance(tree, dict):
        return {prefix[:-1]: tree}
    return {name: value for key, branch in tree.items() for name, value in flat(branch, f"{prefix}{key}.").items()}


def variable(name):
    """Returns the name of a property in the environment."""
    return name.replace(".", "_").replace("-", "").upper()


def bytes_of(text):
    number, unit = re.fullmatch(r"(\d+)\s*(\w*)", str(text)).groups()
    return int(number) * SIZES[unit]


def matches(selector, labels):
    return bool(selector) and selector.items() <= labels.items()


def at(tree, path, default=None):
    for key in path.split("."):
        tree = tree.get(key) if isinstance(tree, dict) else None
    return default if tree is None else tree


def policy(function, of=(False, True)):
    @functools.wraps(function)
    def checked(deployment):
        return function(deployment) if deployment.is_gateway in of else ()

    checked.of = of
    policies[function.__name__] = checked
    return checked


def policy_of_nodes(function):
    return policy(function, (False,))


def policy_of_gateways(function):
    return policy(function, (True,))


def plant(of, only=None):
    """Marks a function that damages a Deployment in a way that this policy has to notice."""

    def mark(function):
        plants.append((function.__name__, of, only, function))
        return function

    return mark


def damaged(deployment, damage):
    """Returns a damaged copy."""
    other = Deployment(deployment.overlay, copy.deepcopy(deployment.manifests), deployment.metadata)
    damage(other)
    return Deployment(other.overlay, other.manifests, other.metadata)


# Rules for each pod.


@policy
def images_are_pinned(deployment):
    for container in deployment.containers:
        name, _, tag = container["image"].rpartition(":")
        if "@sha256:" not in container["image"] and (not name or tag in ("", "latest")):
            yield f"{container['name']}: the image {container['image']} has no version"


@policy
def memory_and_processors_are_limited(deployment):
    for container in deployment.containers:
        for kind in "requests", "limits":
            for resource in "cpu", "memory":
                if at(container, f"resources.{kind}.{resource}") is None:
                    yield f"{container['name']}: no {kind} of {resource}"
        if at(container, "resources.requests.memory") != at(container, "resources.limits.memory"):
            yield f"{container['name']}: memory requests and limits differ, so promised memory may be missing"


@policy
def pods_are_restricted(deployment):
    pod = deployment.pod
    asked = {"runAsNonRoot": True, "fsGroup": 10001, "runAsUser": 10001, "runAsGroup": 10001,
             "seccompProfile": {"type": "RuntimeDefault"}}
    for name, value in asked.items():
        if at(pod, f"securityContext.{name}") != value:
            yield f"the pod's {name} is {at(pod, f'securityContext.{name}')}, not {value}"
    for name in "hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace":
        if pod.get(name):
            yield f"{name} is on"
    for container in deployment.containers:
        context = container.get("securityContext", {})
        for name, value in {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                            "capabilities": {"drop": ["ALL"]}}.items():
            if context.get(name) != value:
                yield f"{container['name']}: {name} is {context.get(name)}, not {value}"
        for name in context.keys() & {"privileged", "runAsUser", "runAsNonRoot", "seccompProfile", "procMount"}:
            yield f"{container['name']}: {name} overrides the pod's"


@policy
def nothing_of_kubernetes_is_given_to_a_pod(deployment):
    if deployment.pod.get("automountServiceAccountToken") is not False:
        yield "the pod gets a token of its service account"
    if deployment.pod.get("enableServiceLinks") is not False:
        yield "Services are added to the environment, which a node reads as properties"
    accounts = {account["metadata"]["name"]: account for account in deployment.of("ServiceAccount")}
    account = accounts.get(deployment.pod.get("serviceAccountName"))
    if account is None or account.get("automountServiceAccountToken") is not False:
        yield "the pod has no service account of its own without a token"
    for kind in "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding":
        if deployment.of(kind):
            yield f"there is a {kind}, though a node does not call the API server"


@policy
def probes_are_right(deployment):
    paths = {"startupProbe": "liveness", "livenessProbe": "liveness", "readinessProbe": "joined"}
    for name, group in paths.items():
        probe = deployment.node.get(name, {})
        if at(probe, "httpGet.path") != HEALTH + group:
            yield f"the {name} asks {at(probe, 'httpGet.path')}, not {HEALTH}{group}"
        if at(probe, "httpGet.port") != "management":
            yield f"the {name} asks the port {at(probe, 'httpGet.port')}, not management"
    for container in deployment.containers:
        for name in paths:
            port = at(container, f"{name}.httpGet.port")
            own = [number for declared in container.get("ports", []) for number in (declared.get("name"), declared["containerPort"])]
            if container is not deployment.node and port is not None and port not in own:
                yield f"{container['name']}: its {name} asks the port {port}, which is not its own"
            if name != "readinessProbe" and at(container, f"{name}.httpGet.path") in (HEALTH + "joined", HEALTH + "readiness"):
                yield f"{container['name']}: its {name} restarts it for a fault that a restart does not mend"
    startup = deployment.node.get("startupProbe", {})
    if startup.get("periodSeconds", 10) * startup.get("failureThreshold", 3) < 300:
        yield "a node that replays its log gets less than five minutes to start"
    if deployment.node.get("readinessProbe", {}).get("timeoutSeconds", 1) <= 5:
        yield "the probe of the disk may take 5 s, and the readinessProbe does not wait for it"


@policy
def probes_and_prometheus_speak_as_the_management_port(deployment):
    """Unless management.server.ssl.* says otherwise that port takes the TLS of the other one, and probes fail for ever."""
    enabled = deployment.said("management.server.ssl.enabled")
    bundle = deployment.said("management.server.ssl.bundle")
    if enabled is None:
        yield "management.server.ssl.enabled is not said: SERVER_SSL_BUNDLE would encrypt the management port too"
    has_tls = str(enabled).lower() == "true"
    if has_tls != bool(bundle):
        yield f"management.server.ssl.enabled is {enabled}, management.server.ssl.bundle is {bundle}: one needs the other"
    scheme = "HTTPS" if has_tls else "HTTP"
    for name in "startupProbe", "livenessProbe", "readinessProbe":
        if at(deployment.node, f"{name}.httpGet.scheme", "HTTP") != scheme:
            yield f"the {name} does not speak {scheme}, as the management port does"
    for endpoint in itertools.chain.from_iterable(
            monitor["spec"].get("endpoints") or monitor["spec"].get("podMetricsEndpoints") or []
            for monitor in deployment.of("ServiceMonitor") + deployment.of("PodMonitor")):
        if endpoint.get("scheme", "http").upper() != scheme:
            yield f"Prometheus does not speak {scheme}, as the management port does"


@policy
def a_node_gets_the_time_to_stop(deployment):
    asleep = at(deployment.node, "lifecycle.preStop.sleep.seconds", 0)
    if asleep < 5:
        yield "a node stops before its clients have learnt of it: no preStop of 5 s or more"
    needed = asleep + STOP_SECONDS + HALT_SECONDS
    if deployment.pod.get("terminationGracePeriodSeconds", 30) < needed:
        yield f"a node may need {needed} s to end, and is killed before"


@policy_of_nodes
def volumes_are_what_they_are_for(deployment):
    volumes = {volume["name"]: volume for volume in deployment.pod.get("volumes", [])}
    claims = {claim["metadata"]["name"] for claim in deployment.set["spec"].get("volumeClaimTemplates", [])}
    mounts = {mount["mountPath"]: mount for mount in deployment.node.get("volumeMounts", [])}
    for path, mount in mounts.items():
        if mount["name"] not in volumes.keys() | claims:
            yield f"{path} is to be {mount['name']}, which is no volume"
    config_maps = {config["metadata"]["name"] for config in deployment.of("ConfigMap")}
    for name, volume in volumes.items():
        if "emptyDir" in volume and "sizeLimit" not in (volume["emptyDir"] or {}):
            yield f"the volume {name} may fill the disk of the machine"
        if "hostPath" in volume:
            yield f"the volume {name} is a directory of the machine"
        if "configMap" in volume and volume["configMap"]["name"] not in config_maps and not volume["configMap"].get("optional"):
            yield f"the volume {name} is the ConfigMap {volume['configMap']['name']}, which is not there"
        if "secret" in volume and not volume["secret"].get("items"):
            yield f"the volume {name} takes a Secret as it is: a missing key would go unnoticed"
    path = str(deployment.properties.get("kvorum.storage.path"))
    if not any(path.startswith(mount + "/") and mounts[mount]["name"] in claims for mount in mounts):
        yield f"kvorum.storage.path {path} is not below a volume of a claim"
    if "/tmp" not in mounts or "emptyDir" not in volumes.get(mounts["/tmp"]["name"], {}):
        yield "/tmp is not writable"


@policy_of_nodes
def a_node_may_have_a_file_of_its_own(deployment):
    """A node reads its file from an optional ConfigMap, which overrides all other files."""
    *_, last = deployment.properties.get("spring.config.import") or [""]
    directory = last.removeprefix("optional:file:").removesuffix("/${POD_NAME}.yml")
    mounts = {mount["mountPath"]: mount["name"] for mount in deployment.node["volumeMounts"]}
    volumes = {volume["name"]: volume.get("configMap", {}) for volume in deployment.pod["volumes"]}
    if last != f"optional:file:{directory}/${{POD_NAME}}.yml" or not volumes.get(mounts.get(directory), {}).get("optional"):
        yield f"the last import is {last}, not the file of a pod in an optional ConfigMap"
    fields = [at(variable, "valueFrom.fieldRef.fieldPath") for variable in deployment.node["env"]
              if variable["name"] == "POD_NAME"]
    if fields != ["metadata.name"]:
        yield "POD_NAME is not the name of the pod"
    if "KVORUM_STORAGE_PATH" in deployment.env:
        yield "kvorum.storage.path is in the environment, so the file of a node that is restored elsewhere cannot change it"


@policy
def secrets_are_files_made_outside_the_manifests(deployment):
    for secret in deployment.of("Secret"):
        yield f"the Secret {secret['metadata']['name']} is in the manifests"
    for container in deployment.containers:
        for variable in container.get("env", []):
            if at(variable, "valueFrom.secretKeyRef") or re.search("SECRET|PASSWORD|TOKEN", variable["name"]):
                yield f"{container['name']}: {variable['name']} is a secret in the environment"
    for name in deployment.properties:
        if "secret" in name:
            yield f"{name} is in a ConfigMap or in the environment"


# Rules for the pods together.


@policy_of_nodes
def the_set_does_not_lose_data_nor_wait_for_itself(deployment):
    spec = deployment.set["spec"]
    asked = {"podManagementPolicy": "Parallel", "updateStrategy": {"type": "RollingUpdate"},
             "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"}}
    for name, value in asked.items():
        if spec.get(name) != value:
            yield f"{name} is {spec.get(name)}, not {value}"
    if not matches(at(spec, "selector.matchLabels"), deployment.labels):
        yield "the StatefulSet does not select its own pods"


@policy
def one_node_may_be_away_for_maintenance(deployment):
    budgets = [budget["spec"] for budget in deployment.of("PodDisruptionBudget")
               if matches(at(budget, "spec.selector.matchLabels"), deployment.labels)]
    if [budget.get("maxUnavailable") for budget in budgets] != [1]:
        yield "the pods have no PodDisruptionBudget with maxUnavailable 1, or several"


@policy_of_nodes
def each_port_is_open_to_its_clients_only(deployment):
    networks = [network["spec"] for network in deployment.of("NetworkPolicy")
                if matches(at(network, "spec.podSelector.matchLabels"), deployment.labels)]
    if not any("Ingress" in network.get("policyTypes", []) for network in networks):
        yield "no NetworkPolicy selects the pods"
    open_to = {}
    for rule in (rule for network in networks for rule in network.get("ingress", [])):
        peers = rule.get("from", [])
        if not rule.get("ports"):
            yield "a rule opens all ports"
        if not peers or any(peer in ({}, {"namespaceSelector": {}}, {"podSelector": {}, "namespaceSelector": {}}) or
                            "ipBlock" in peer for peer in peers):
            yield "a rule admits all sources"
        for port in rule.get("ports", []):
            open_to.setdefault(port["port"], []).extend(peers)
    for port in deployment.ports.keys() - open_to.keys():
        yield f"the port {port} is open to no source"
    for port in open_to.keys() - deployment.ports.keys():
        yield f"the port {port} is no port of the node"
    if open_to.get("replica") != [{"podSelector": {"matchLabels": deployment.labels}}]:
        yield "the replica port is open to more than the nodes"
    for peer in open_to.get("management", []):
        if "namespaceSelector" not in peer:
            yield "the management port is open to pods of the same namespace"


@policy_of_nodes
def ports_are_the_same_everywhere(deployment):
    if deployment.ports.keys() != {"api", "management", "replica"}:
        yield f"the ports are {sorted(map(str, deployment.ports))}, not api, management and replica"
    for name, of in {"server.port": "api", "management.server.port": "management"}.items():
        if deployment.properties.get(name) != deployment.ports.get(of):
            yield f"{name} is {deployment.properties.get(name)}, the port {of} is {deployment.ports.get(of)}"
    for service in deployment.selecting:
        for port in service["spec"]["ports"]:
            if port.get("name") not in deployment.ports or port.get("targetPort") != port.get("name"):
                yield f"the port {port.get('name')} of {service['metadata']['name']} is no port of the node by that name"
            elif port["port"] != deployment.ports[port["name"]]:
                yield f"the port {port['name']} of {service['metadata']['name']} has another number than the node's"


@policy_of_nodes
def services_are_one_for_clients_and_one_for_names(deployment):
    services = {service["metadata"]["name"]: service["spec"] for service in deployment.selecting}
    nodes = services.pop(deployment.set["spec"]["serviceName"], {})
    if nodes.get("clusterIP") != "None" or not nodes.get("publishNotReadyAddresses"):
        yield "the Service of the StatefulSet is not headless, or has no names for nodes that are not ready"
    for name, service in services.items():
        if [port.get("name") for port in service["ports"]] != ["api"] or service.get("publishNotReadyAddresses"):
            yield f"the Service {name} has more than the API of the nodes that are ready"
        if service.get("type", "ClusterIP") != "ClusterIP":
            yield f"the Service {name} is a {service['type']}: the API is open to the world"
    if not services:
        yield "there is no Service for clients"


@policy_of_nodes
def nodes_know_each_other(deployment):
    name, service = deployment.set["metadata"]["name"], deployment.set["spec"]["serviceName"]
    replicas = deployment.set["spec"]["replicas"]
    port = deployment.ports.get("replica")
    expected = [f"http://{name}-{i}.{service}:{port}" for i in range(replicas)] if replicas > 1 else []
    listed = deployment.properties.get("kvorum.cluster.nodes") or []
    # Pods that came later are no founders: they ask to be added.
    others_join = listed and deployment.properties.get("kvorum.cluster.join") == "auto"
    if listed != (expected[:len(listed)] if others_join else expected):
        yield f"kvorum.cluster.nodes is {listed}, the pods are {expected}"
    self = f"http://$(POD_NAME).{service}:{port}" if replicas > 1 else None
    if deployment.env.get("KVORUM_CLUSTER_SELF") != self:
        yield f"KVORUM_CLUSTER_SELF is {deployment.env.get('KVORUM_CLUSTER_SELF')}, not {self}"
    if self and "POD_NAME" not in itertools.takewhile("KVORUM_CLUSTER_SELF".__ne__, deployment.env):
        yield "POD_NAME is used before it is defined"
    secrets = [item["key"] for volume in deployment.pod["volumes"] for item in at(volume, "secret.items", [])]
    if self and "kvorum.cluster.secret" not in secrets:
        yield "the nodes share no secret"


@policy_of_gateways
def gateways_keep_nothing(deployment):
    for volume in deployment.pod["volumes"]:
        if "persistentVolumeClaim" in volume or "hostPath" in volume or "ephemeral" in volume:
            yield f"the volume {volume['name']} keeps data, and a gateway has none"
        if "emptyDir" in volume and "sizeLimit" not in (volume["emptyDir"] or {}):
            yield f"the volume {volume['name']} may fill the disk of the machine"
        if "secret" in volume and not volume["secret"].get("items"):
            yield f"the volume {volume['name']} takes a Secret as it is: a missing key would go unnoticed"
    mounts = {mount["mountPath"]: mount["name"] for mount in deployment.node["volumeMounts"]}
    if not any(volume["name"] == mounts.get("/tmp") and "emptyDir" in volume for volume in deployment.pod["volumes"]):
        yield "/tmp is not writable"


@policy_of_gateways
def gateways_know_their_cassandra(deployment):
    if deployment.properties.get("kvorum.engine") != "cassandra":
        yield f"kvorum.engine is {deployment.properties.get('kvorum.engine')}: a node with a store, and without a volume for it"
    for name in "spring.cassandra.contact-points", "spring.cassandra.local-datacenter":
        if not deployment.properties.get(name):
            yield f"{name} is not set"
    for point in deployment.properties.get("spring.cassandra.contact-points") or []:
        if ":" not in point:
            yield f"the contact point {point} has no port"
    for name in deployment.properties:
        if name.startswith(("kvorum.cluster.", "kvorum.storage.", "kvorum.backup.")):
            yield f"{name} is for nodes with a store"


@policy_of_gateways
def gateways_are_clients_of_nodes(deployment):
    if at(deployment.set, "spec.template.metadata.labels", {}).get("kvorum/client") != "true":
        yield "the pods lack the label kvorum/client: the network policy of nodes keeps them out while keys move"


@policy_of_gateways
def gateways_are_never_fewer_than_wanted(deployment):
    spec = deployment.set["spec"]
    rolling = at(spec, "strategy.rollingUpdate", {})
    if at(spec, "strategy.type") != "RollingUpdate" or rolling.get("maxUnavailable") != 0 or not rolling.get("maxSurge"):
        yield "an update takes a gateway away before the next one serves"
    scalers = [scaler["spec"] for scaler in deployment.of("HorizontalPodAutoscaler")
               if at(scaler, "spec.scaleTargetRef.name") == deployment.set["metadata"]["name"]
               and at(scaler, "spec.scaleTargetRef.kind") == "Deployment"]
    if len(scalers) != 1 or scalers[0].get("minReplicas", 1) < 2:
        yield "the Deployment has no autoscaler that keeps two gateways, or several"
    if scalers and "replicas" in spec:
        yield "the Deployment has a number of replicas, which each apply would set against the autoscaler's"
    if scalers and at(scalers[0], "behavior.scaleDown.stabilizationWindowSeconds", 0) < 300:
        yield "the autoscaler takes gateways away as soon as the load falls"


@policy_of_gateways
def gateways_reach_cassandra_and_are_reached_by_clients(deployment):
    networks = [network["spec"] for network in deployment.of("NetworkPolicy")
                if matches(at(network, "spec.podSelector.matchLabels"), deployment.labels)]
    if [sorted(network.get("policyTypes", [])) for network in networks] != [["Egress", "Ingress"]]:
        yield "there is not one NetworkPolicy of the gateways for both directions"
    for rule in (rule for network in networks for rule in network.get("ingress", [])):
        if not rule.get("from") or not rule.get("ports") or any(peer in ({}, {"namespaceSelector": {}}) for peer in rule["from"]):
            yield "a rule admits all sources, or opens all ports"
        for port in rule.get("ports", []):
            if port["port"] == "management" and any("namespaceSelector" not in peer for peer in rule.get("from", [])):
                yield "the management port is open to pods of the same namespace"
    outgoing = {port["port"] for network in networks for rule in network.get("egress", []) for port in rule.get("ports", ["all"])}
    if "all" in outgoing or not {9042, 53} <= outgoing:
        yield f"gateways may connect to the ports {sorted(map(str, outgoing))}: not to all, but to Cassandra's 9042 and to DNS"
    if deployment.ports.keys() != {"api", "management"}:
        yield f"the ports are {sorted(map(str, deployment.ports))}, not api and management"
    for service in deployment.selecting:
        if [port.get("name") for port in service["spec"]["ports"]] != ["api"] or service["spec"].get("publishNotReadyAddresses"):
            yield f"the Service {service['metadata']['name']} has more than the API of the gateways that are ready"
    if not deployment.selecting:
        yield "there is no Service for clients"


@policy_of_gateways
def the_memory_of_gateways_fits(deployment):
    heap, direct = deployment.jvm("-Xmx"), deployment.jvm("-XX:MaxDirectMemorySize=")
    limit = at(deployment.node, "resources.limits.memory")
    if not heap or not direct or deployment.jvm("-Xms") != heap:
        yield "JDK_JAVA_OPTIONS has no -Xms equal to -Xmx, or no -XX:MaxDirectMemorySize"
    elif limit and heap + direct + JVM_BYTES > bytes_of(limit):
        yield f"a gateway takes {(heap + direct + JVM_BYTES) // MIB} MiB and the limit is {limit}"


@policy_of_nodes
def memory_fits(deployment):
    heap, direct = deployment.jvm("-Xmx"), deployment.jvm("-XX:MaxDirectMemorySize=")
    limit = at(deployment.node, "resources.limits.memory")
    if not heap or not direct or deployment.jvm("-Xms") != heap:
        yield "JDK_JAVA_OPTIONS has no -Xms equal to -Xmx, or no -XX:MaxDirectMemorySize"
    elif limit:
        cache = deployment.size("kvorum.storage.cache-size")
        needed = heap + direct + cache + JVM_BYTES
        if needed > bytes_of(limit):
            yield (f"a node takes {needed // MIB} MiB (heap {heap // MIB}, direct {direct // MIB}, cache {cache // MIB}, "
                   f"JVM {JVM_BYTES // MIB}) and the limit is {limit}")
        if 2 * (deployment.size("kvorum.storage.memtable-size") or 0) > cache:
            yield "kvorum.storage.memtable-size is more than half of cache-size"
        if 2 * deployment.size("kvorum.storage.row-cache-size") > heap:
            yield "kvorum.storage.row-cache-size is more than half of the heap"


@policy
def properties_are_known(deployment):
    """Spring Boot ignores a variable of the environment whose name is misspelt."""
    for name in deployment.properties:
        if (name.startswith("KVORUM_") and name not in COMMAND_LINE) or (name.startswith("kvorum.") and name not in deployment.metadata):
            yield f"there is no property {name}"


@policy_of_nodes
def certificates_are_whole(deployment):
    """A misspelt variable makes another bundle, or one without the key, without its check or without renewal."""
    made = {variable(name): value for name, value in [*deployment.properties.items(), *deployment.env.items()]}
    for bundle in deployment.bundles(BUNDLE_USERS):
        for part in BUNDLE_NEEDS:
            value = made.get(f"{BUNDLE}{variable(bundle)}_{part}")
            if value is None:
                yield f"the SSL bundle {bundle} has no {part}"
            elif part in BUNDLE_SWITCHES and str(value).lower() != "true":
                yield f"{part} of the SSL bundle {bundle} is off"
    known = {f"{BUNDLE}{variable(bundle)}_{part}"
             for bundle in deployment.bundles([*BUNDLE_USERS, *BUNDLE_CLIENTS]) for part in BUNDLE_PARTS}
    for name in deployment.env:
        if name.startswith("SPRING_SSL_") and name not in known and not name.startswith(BUNDLE_WATCH):
            yield f"{name} belongs to no SSL bundle that is used"


@policy_of_nodes
def prometheus_finds_the_nodes(deployment):
    for monitor in deployment.of("ServiceMonitor"):
        found = [service for service in deployment.selecting
                 if matches(at(monitor, "spec.selector.matchLabels"), service["metadata"]["labels"])]
        if len(found) != 1:
            yield f"the ServiceMonitor selects {len(found)} Services: each node is to be scraped once"
        for endpoint in monitor["spec"]["endpoints"]:
            ports = [port["name"] for service in found for port in service["spec"]["ports"]]
            if endpoint.get("port") not in ports or endpoint.get("path") != "/actuator/prometheus":
                yield "the ServiceMonitor does not scrape /actuator/prometheus of a port of that Service"


@policy
def prometheus_has_the_key(deployment):
    if not deployment.properties.get("kvorum.access.keys-file"):
        return
    for monitor in deployment.of("ServiceMonitor") + deployment.of("PodMonitor"):
        for endpoint in monitor["spec"].get("endpoints", []) + monitor["spec"].get("podMetricsEndpoints", []):
            if not at(endpoint, "authorization.credentials.name"):
                yield (f"{monitor['kind']} {monitor['metadata']['name']} has no authorization, and the nodes ask for keys: "
                       "name the component with the monitor before access-keys")


@policy
def alerts_lead_to_the_runbook(deployment):
    for found in deployment.of("PrometheusRule"):
        for rule in itertools.chain.from_iterable(group["rules"] for group in found["spec"]["groups"]):
            url = at(rule, "annotations.runbook_url", "")
            if "alert" in rule and not re.fullmatch(f"https?://[^#]+#{rule['alert'].lower()}", url):
                yield f"{rule['alert']} leads to \"{url}\""


@policy_of_nodes
def production_is_on_machines_of_its_own(deployment):
    """An overlay with one of these precautions has to have all of them, also a copy with another name."""
    outgoing = any("Egress" in at(network, "spec.policyTypes", []) for network in deployment.of("NetworkPolicy"))
    apart = any(spread["whenUnsatisfiable"] == "DoNotSchedule" for spread in deployment.pod.get("topologySpreadConstraints", []))
    if not (deployment.of("Namespace") or outgoing or apart):
        return
    if not any(spread["topologyKey"] == "kubernetes.io/hostname" and spread["whenUnsatisfiable"] == "DoNotSchedule"
               and matches(at(spread, "labelSelector.matchLabels"), deployment.labels)
               for spread in deployment.pod.get("topologySpreadConstraints", [])):
        yield "two nodes may be on one machine"
    for spread in deployment.pod.get("topologySpreadConstraints", []):
        if spread["topologyKey"] == "kubernetes.io/hostname" and spread.get("minDomains", 1) < deployment.set["spec"]["replicas"]:
            yield "two nodes may be on one machine where there are fewer machines than nodes: minDomains is less than replicas"
    for container in deployment.containers:
        if at(container, "resources.requests") != at(container, "resources.limits"):
            yield f"{container['name']}: requests and limits differ: it is killed for memory before others"
    namespaces = {space["metadata"]["name"]: space["metadata"].get("labels", {}) for space in deployment.of("Namespace")}
    space = namespaces.get(deployment.set["metadata"].get("namespace"), {})
    if space.get("pod-security.kubernetes.io/enforce") != "restricted":
        yield "the namespace admits pods that are not restricted"
    if not outgoing:
        yield "nodes may connect to anywhere"


# Violations, one or more of each policy.


@plant(images_are_pinned)
def an_image_without_a_tag(deployment):
    deployment.node["image"] = "kvorum"


@plant(images_are_pinned)
def the_latest_image(deployment):
    deployment.node["image"] = "kvorum:latest"


@plant(memory_and_processors_are_limited)
def a_sidecar_without_limits(deployment):
    sidecar = copy.deepcopy(deployment.node) | {"name": "sidecar"}
    del sidecar["resources"]["limits"]["memory"]
    deployment.pod["containers"].append(sidecar)


@plant(memory_and_processors_are_limited)
def less_memory_requested_than_used(deployment):
    deployment.node["resources"]["requests"]["memory"] = "64Mi"


@plant(pods_are_restricted)
def a_writable_root(deployment):
    deployment.node["securityContext"]["readOnlyRootFilesystem"] = False


@plant(pods_are_restricted)
def a_capability(deployment):
    deployment.node["securityContext"]["capabilities"]["add"] = ["NET_ADMIN"]


@plant(pods_are_restricted)
def no_seccomp(deployment):
    del deployment.pod["securityContext"]["seccompProfile"]


@plant(pods_are_restricted)
def a_container_that_runs_as_root_after_all(deployment):
    deployment.node["securityContext"]["runAsUser"] = 0


@plant(nothing_of_kubernetes_is_given_to_a_pod)
def a_token(deployment):
    del deployment.pod["automountServiceAccountToken"]


@plant(nothing_of_kubernetes_is_given_to_a_pod)
def the_default_account(deployment):
    del deployment.pod["serviceAccountName"]


@plant(nothing_of_kubernetes_is_given_to_a_pod)
def service_links(deployment):
    deployment.pod["enableServiceLinks"] = True


@plant(probes_are_right)
def no_liveness_probe(deployment):
    del deployment.node["livenessProbe"]


@plant(probes_are_right)
def a_probe_of_the_api_port(deployment):
    deployment.node["readinessProbe"]["httpGet"]["port"] = "api"


@plant(probes_are_right)
def liveness_that_depends_on_peers(deployment):
    deployment.node["livenessProbe"]["httpGet"]["path"] = HEALTH + "joined"


@plant(probes_are_right)
def a_hasty_startup_probe(deployment):
    deployment.node["startupProbe"]["failureThreshold"] = 3


@plant(probes_are_right)
def a_sidecar_in_front_that_is_asked_by_the_port_of_the_node(deployment):
    sidecar = {"name": "sidecar", "image": "sidecar:1", "ports": [{"name": "web", "containerPort": 80}],
               "livenessProbe": {"httpGet": {"path": "/", "port": "management"}}}
    deployment.pod["containers"].insert(0, sidecar)


@plant(probes_are_right)
def a_second_container_whose_liveness_depends_on_peers(deployment):
    second = copy.deepcopy(deployment.node) | {"name": "second"}
    second["livenessProbe"]["httpGet"]["path"] = HEALTH + "joined"
    deployment.pod["containers"].append(second)


def speak(deployment, **variables):
    deployment.node["env"] = deployment.node.get("env", []) + [{"name": name, "value": value} for name, value in variables.items()]


@plant(probes_and_prometheus_speak_as_the_management_port)
def the_tls_of_clients_at_the_management_port(deployment):
    reconfigure(deployment, lambda tree: tree["management"]["server"].pop("ssl", None))
    speak(deployment, SERVER_SSL_BUNDLE="node")


@plant(probes_and_prometheus_speak_as_the_management_port)
def a_bundle_of_the_management_port_that_is_switched_off(deployment):
    speak(deployment, MANAGEMENT_SERVER_SSL_BUNDLE="node")


@plant(probes_and_prometheus_speak_as_the_management_port)
def probes_without_the_tls_of_the_management_port(deployment):
    speak(deployment, MANAGEMENT_SERVER_SSL_ENABLED="true", MANAGEMENT_SERVER_SSL_BUNDLE="node")


@plant(probes_and_prometheus_speak_as_the_management_port, only=("production",))
def a_prometheus_with_tls_of_its_own(deployment):
    deployment.of("ServiceMonitor")[0]["spec"]["endpoints"][0]["scheme"] = "https"


@plant(a_node_gets_the_time_to_stop)
def a_grace_period_that_is_too_short(deployment):
    deployment.pod["terminationGracePeriodSeconds"] = 30


@plant(a_node_gets_the_time_to_stop)
def no_pre_stop(deployment):
    del deployment.node["lifecycle"]


@plant(volumes_are_what_they_are_for)
def data_outside_the_claim(deployment):
    deployment.of("ConfigMap")[0]["data"]["application.yml"] = "kvorum.storage.path: /tmp/data"


@plant(volumes_are_what_they_are_for)
def a_temporary_directory_without_a_limit(deployment):
    [tmp] = [volume for volume in deployment.pod["volumes"] if volume["name"] == "tmp"]
    tmp["emptyDir"] = {}


@plant(volumes_are_what_they_are_for, only=("three-nodes", "production"))
def a_secret_as_it_is(deployment):
    [secrets] = [volume for volume in deployment.pod["volumes"] if volume["name"] == "secrets"]
    del secrets["secret"]["items"]


@plant(a_node_may_have_a_file_of_its_own)
def pods_that_wait_for_the_files_of_nodes(deployment):
    [nodes] = [volume for volume in deployment.pod["volumes"] if volume["name"] == "nodes"]
    del nodes["configMap"]["optional"]


@plant(a_node_may_have_a_file_of_its_own)
def a_file_of_a_node_that_others_win_over(deployment):
    config = deployment.of("ConfigMap")[0]["data"]
    tree = yaml.safe_load(config["application.yml"])
    tree["spring"]["config"]["import"].reverse()
    config["application.yml"] = yaml.safe_dump(tree)


@plant(a_node_may_have_a_file_of_its_own)
def a_pod_that_does_not_know_its_name(deployment):
    deployment.node["env"] = [variable for variable in deployment.node["env"] if variable["name"] != "POD_NAME"]


@plant(secrets_are_files_made_outside_the_manifests)
def a_secret_in_the_environment(deployment):
    deployment.node["env"].append({"name": "KVORUM_CLUSTER_SECRET", "value": "correct horse battery"})


@plant(secrets_are_files_made_outside_the_manifests)
def a_secret_in_the_manifests(deployment):
    deployment.manifests.append({"kind": "Secret", "metadata": {"name": "kvorum-cluster"}})


@plant(the_set_does_not_lose_data_nor_wait_for_itself)
def nodes_that_wait_for_each_other(deployment):
    deployment.set["spec"]["podManagementPolicy"] = "OrderedReady"


@plant(the_set_does_not_lose_data_nor_wait_for_itself)
def claims_that_go_with_the_set(deployment):
    deployment.set["spec"]["persistentVolumeClaimRetentionPolicy"]["whenDeleted"] = "Delete"


@plant(one_node_may_be_away_for_maintenance)
def a_budget_of_other_pods(deployment):
    deployment.of("PodDisruptionBudget")[0]["spec"]["selector"]["matchLabels"] = {"app": "kvorum"}


@plant(one_node_may_be_away_for_maintenance)
def a_budget_of_two(deployment):
    deployment.of("PodDisruptionBudget")[0]["spec"]["maxUnavailable"] = 2


@plant(each_port_is_open_to_its_clients_only)
def a_network_policy_of_other_pods(deployment):
    deployment.of("NetworkPolicy")[0]["spec"]["podSelector"]["matchLabels"] = {"app": "kvorum"}


@plant(each_port_is_open_to_its_clients_only)
def a_replica_port_for_clients(deployment):
    deployment.of("NetworkPolicy")[0]["spec"]["ingress"][0]["ports"].append({"port": "replica"})


@plant(each_port_is_open_to_its_clients_only)
def a_rule_for_all_sources(deployment):
    del deployment.of("NetworkPolicy")[0]["spec"]["ingress"][2]["from"]


@plant(each_port_is_open_to_its_clients_only)
def management_for_all_namespaces(deployment):
    deployment.of("NetworkPolicy")[0]["spec"]["ingress"][2]["from"] = [{"namespaceSelector": {}}]


@plant(ports_are_the_same_everywhere)
def another_management_port(deployment):
    config = deployment.of("ConfigMap")[0]["data"]
    config["application.yml"] = config["application.yml"].replace("8081", "8082")


@plant(ports_are_the_same_everywhere)
def a_service_of_a_port_that_is_not_there(deployment):
    deployment.selecting[0]["spec"]["ports"][0]["targetPort"] = "http"


@plant(services_are_one_for_clients_and_one_for_names)
def names_for_ready_nodes_only(deployment):
    for service in deployment.selecting:
        service["spec"].pop("publishNotReadyAddresses", None)


@plant(services_are_one_for_clients_and_one_for_names)
def clients_at_the_management_port(deployment):
    [service] = [service for service in deployment.selecting if service["spec"].get("clusterIP") != "None"]
    service["spec"]["ports"].append({"name": "management", "port": 8081, "targetPort": "management"})


@plant(nodes_know_each_other, only=("one-node", "three-nodes", "production"))
def more_pods_than_nodes(deployment):
    deployment.set["spec"]["replicas"] += 2
    config = deployment.of("ConfigMap")[0]["data"]
    if "cluster.yml" in config:
        config["cluster.yml"] = config["cluster.yml"].replace("join: auto", "join: manual")


@plant(nodes_know_each_other, only=("three-nodes", "production"))
def another_service_name(deployment):
    config = deployment.of("ConfigMap")[0]["data"]
    config["cluster.yml"] = config["cluster.yml"].replace("kvorum-nodes", "kvorum")


@plant(nodes_know_each_other, only=("three-nodes", "production"))
def no_list_of_nodes(deployment):
    del deployment.of("ConfigMap")[0]["data"]["cluster.yml"]


@plant(nodes_know_each_other, only=("three-nodes", "production"))
def a_name_that_is_used_before_it_is_defined(deployment):
    deployment.node["env"].reverse()


@plant(memory_fits)
def a_cache_that_does_not_fit(deployment):
    deployment.node["env"].append({"name": "KVORUM_STORAGE_CACHE_SIZE", "value": "8GB"})


@plant(memory_fits)
def a_heap_without_a_size(deployment):
    deployment.node["env"] = [variable for variable in deployment.node["env"] if variable["name"] != "JDK_JAVA_OPTIONS"]


@plant(memory_fits)
def a_limit_that_leaves_nothing_for_the_jvm(deployment):
    limit = deployment.size("kvorum.storage.cache-size") + deployment.jvm("-Xmx") + deployment.jvm(
        "-XX:MaxDirectMemorySize=")
    deployment.node["resources"]["limits"]["memory"] = f"{limit // MIB}Mi"


@plant(properties_are_known)
def a_slip_in_a_variable(deployment):
    deployment.node["env"].append({"name": "KVORUM_STORAGE_CACHE_SIZ", "value": "64MB"})


TLS = ("production-with-all-components",)


def rename(deployment, before, after):
    for named in deployment.node["env"]:
        named["name"] = named["name"].replace(before, after)


@plant(certificates_are_whole, only=TLS)
def a_bundle_of_another_name(deployment):
    rename(deployment, BUNDLE + "NODE_", BUNDLE + "NODES_")


@plant(certificates_are_whole, only=TLS)
def a_slip_in_a_prefix(deployment):
    rename(deployment, "SPRING_SSL_BUNDLE", "SPRING_SSL_BUNDEL")


@plant(certificates_are_whole, only=TLS)
def a_slip_in_the_name_of_a_key(deployment):
    rename(deployment, "PRIVATEKEY", "PRIVATE_KEY")


@plant(certificates_are_whole, only=TLS)
def a_key_that_is_not_looked_at(deployment):
    for named in deployment.node["env"]:
        if "VERIFYKEYS" in named["name"]:
            named["value"] = "false"


@plant(certificates_are_whole, only=TLS)
def certificates_that_are_not_followed(deployment):
    deployment.node["env"] = [each for each in deployment.node["env"] if "RELOADONUPDATE" not in each["name"]]


@plant(prometheus_finds_the_nodes, only=("production",))
def a_monitor_of_both_services(deployment):
    del deployment.of("ServiceMonitor")[0]["spec"]["selector"]["matchLabels"]["app.kubernetes.io/component"]


@plant(prometheus_has_the_key, only=("production-with-all-components",))
def a_monitor_without_a_key(deployment):
    del deployment.of("ServiceMonitor")[0]["spec"]["endpoints"][0]["authorization"]


@plant(alerts_lead_to_the_runbook, only=("production",))
def an_alert_that_leads_to_a_file(deployment):
    rule = deployment.of("PrometheusRule")[0]["spec"]["groups"][1]["rules"][0]
    rule["annotations"]["runbook_url"] = "src/docs/operations.md#kvorumquorumfailures"


@plant(production_is_on_machines_of_its_own, only=("production",))
def a_copy_of_production_without_limits_for_what_goes_out(deployment):
    deployment.overlay = "copy"
    for network in deployment.of("NetworkPolicy"):
        network["spec"]["policyTypes"] = ["Ingress"]


@plant(production_is_on_machines_of_its_own, only=("production",))
def two_nodes_on_one_machine(deployment):
    deployment.pod["topologySpreadConstraints"][0]["whenUnsatisfiable"] = "ScheduleAnyway"


@plant(production_is_on_machines_of_its_own, only=("production",))
def two_nodes_on_one_machine_when_another_one_is_gone(deployment):
    deployment.pod["topologySpreadConstraints"][0].pop("minDomains", None)


@plant(production_is_on_machines_of_its_own, only=("production",))
def a_namespace_for_anything(deployment):
    deployment.of("Namespace")[0]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] = "baseline"


# Plants of gateways.


@plant(gateways_are_clients_of_nodes)
def a_gateway_that_nodes_do_not_let_in(deployment):
    del deployment.set["spec"]["template"]["metadata"]["labels"]["kvorum/client"]


@plant(gateways_keep_nothing)
def a_gateway_with_a_volume(deployment):
    deployment.pod["volumes"].append({"name": "data", "persistentVolumeClaim": {"claimName": "data"}})


@plant(gateways_keep_nothing)
def a_gateway_without_a_place_for_the_jvm(deployment):
    deployment.node["volumeMounts"] = [mount for mount in deployment.node["volumeMounts"] if mount["mountPath"] != "/tmp"]


def reconfigure(deployment, change):
    config = deployment.of("ConfigMap")[0]["data"]
    tree = yaml.safe_load(config["application.yml"])
    change(tree)
    config["application.yml"] = yaml.safe_dump(tree)


@plant(gateways_know_their_cassandra)
def a_gateway_with_a_store(deployment):
    reconfigure(deployment, lambda tree: tree["kvorum"].pop("engine"))


@plant(gateways_know_their_cassandra)
def a_gateway_of_no_data_centre(deployment):
    reconfigure(deployment, lambda tree: tree["spring"]["cassandra"].pop("local-datacenter"))


@plant(gateways_know_their_cassandra)
def a_contact_point_without_a_port(deployment):
    reconfigure(deployment, lambda tree: tree["spring"]["cassandra"].update({"contact-points": ["cassandra"]}))


@plant(gateways_are_never_fewer_than_wanted)
def an_update_that_takes_one_away(deployment):
    deployment.set["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] = 1


@plant(gateways_are_never_fewer_than_wanted)
def a_single_gateway_at_night(deployment):
    deployment.of("HorizontalPodAutoscaler")[0]["spec"]["minReplicas"] = 1


@plant(gateways_are_never_fewer_than_wanted)
def a_number_beside_the_autoscaler(deployment):
    deployment.set["spec"]["replicas"] = 2


@plant(gateways_are_never_fewer_than_wanted)
def an_autoscaler_of_something_else(deployment):
    deployment.of("HorizontalPodAutoscaler")[0]["spec"]["scaleTargetRef"]["name"] = "kvorum"


@plant(gateways_reach_cassandra_and_are_reached_by_clients)
def gateways_that_connect_to_anywhere(deployment):
    deployment.of("NetworkPolicy")[0]["spec"]["policyTypes"] = ["Ingress"]


@plant(gateways_reach_cassandra_and_are_reached_by_clients)
def gateways_with_a_port_for_peers(deployment):
    deployment.node["ports"].append({"name": "replica", "containerPort": 9090})


@plant(gateways_reach_cassandra_and_are_reached_by_clients)
def a_gateway_for_all_pods(deployment):
    deployment.of("NetworkPolicy")[0]["spec"]["ingress"][0]["from"] = [{"namespaceSelector": {}}]


@plant(the_memory_of_gateways_fits)
def a_heap_that_does_not_fit(deployment):
    deployment.node["env"].append({"name": "JDK_JAVA_OPTIONS", "value": "-Xms400m -Xmx400m -XX:MaxDirectMemorySize=64m"})
