package io.kvorum.observability;

import java.util.List;
import java.util.function.Supplier;

import io.kvorum.api.ClusterView;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.convergence.Convergence;
import io.kvorum.layout.LayoutNode;
import io.kvorum.transport.PeerReports;
import io.kvorum.transport.PeerStatus;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.info.BuildProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.json.JsonMapper;

/** Configures what a node tells of itself, and the view of the cluster. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "kvorum.engine", havingValue = "rocksdb", matchIfMissing = true)
class ClusterObservability {

	@Bean
	NodeReport nodeReport(Member self, @Nullable BuildProperties build, Supplier<Layout> layout,
			@Nullable LayoutNode node, Supplier<List<PeerStatus>> peers, Convergence convergence, RequestRate requests,
			MeterRegistry registry, JsonMapper json, @Value("${kvorum.api.retired:false}") boolean isRetired) {
		return new NodeReport(self, (build != null) ? String.valueOf(build.getVersion()) : "unknown", layout, node,
				peers, convergence, requests, registry, json, isRetired);
	}

	@Bean
	ClusterView clusterView(NodeReport own, Supplier<Layout> layout, @Nullable LayoutNode node, PeerReports peers,
			JsonMapper json) {
		return new ClusterReports(own, layout, node, peers, json);
	}

}
