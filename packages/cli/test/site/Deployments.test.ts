/** The files of the page on several servers are what the program and its image understand. */
import { clusterOptions, defaultDrainMs } from "../../src/args/ClusterOptions.ts"
import { httpOptions } from "../../src/args/HttpOptions.ts"
import { parseNodeAddress } from "../../src/args/Addresses.ts"
import { serverOptions } from "../../src/args/ServerOptions.ts"
import { parse } from "../../src/args/Args.ts"
import { storeProblem } from "../../src/cluster/ServedCluster.ts"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import { assert, describe, it } from "@effect/vitest"
import * as Toml from "effect/encoding/Toml"
import * as Yaml from "effect/encoding/Yaml"
import * as Result from "effect/Result"
import { readFileSync } from "node:fs"
import { blocksOf } from "../support/CodeBlocks.ts"

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")

const page = read("../../../docs/scale-out.md")
const image = read("../../Dockerfile")
const http = read("../../../docs/http.md")

const blocks = (language: string) =>
  blocksOf(page).flatMap((block) => (block.language === language ? [block.text] : []))

interface Container {
  readonly image: string
  readonly args: ReadonlyArray<string>
  readonly environment: ReadonlyArray<string>
  readonly mounts: ReadonlyArray<string>
  readonly graceSeconds: number
}

interface Compose {
  readonly services: {
    readonly server: {
      readonly image: string
      readonly command: ReadonlyArray<string>
      readonly environment: object
      readonly volumes: ReadonlyArray<string>
      readonly stop_grace_period: string
    }
    readonly database: { readonly environment: Readonly<Record<string, string>> }
  }
  readonly volumes: object
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: number }
}

interface Deployment {
  readonly kind: string
  readonly spec: {
    readonly selector: { readonly matchLabels: object }
    readonly template: {
      readonly metadata: { readonly labels: object }
      readonly spec: {
        readonly terminationGracePeriodSeconds: number
        readonly securityContext: { readonly runAsUser: number }
        readonly volumes: ReadonlyArray<{ readonly name: string }>
        readonly containers: ReadonlyArray<{
          readonly image: string
          readonly args: ReadonlyArray<string>
          readonly ports: ReadonlyArray<{ readonly containerPort: number }>
          readonly env: ReadonlyArray<{ readonly name: string }>
          readonly readinessProbe: Probe
          readonly livenessProbe: Probe
          readonly volumeMounts: ReadonlyArray<{
            readonly name: string
            readonly mountPath: string
          }>
        }>
      }
    }
  }
}

interface NetworkPolicy {
  readonly spec: {
    readonly podSelector: { readonly matchLabels: object }
    readonly ingress: ReadonlyArray<{
      readonly from?: ReadonlyArray<{ readonly podSelector: { readonly matchLabels: object } }>
      readonly ports: ReadonlyArray<{ readonly port: number }>
    }>
  }
}

const [composeText = "", deploymentText = "", policyText = ""] = blocks("yaml")
const compose = Yaml.parse(composeText) as Compose
const deployment = Yaml.parse(deploymentText) as Deployment
const pod = deployment.spec.template.spec
const [container = assert.fail("expected a container")] = pod.containers
const { server } = compose.services
const policy = Yaml.parse(policyText) as NetworkPolicy

/** The configuration of the state directory. */
const config = () =>
  ConfigTree.fromRecord({ ...Result.getOrThrow(Toml.parse(blocks("toml")[0] ?? "")) })

const cluster = () => Result.getOrThrow(clusterOptions(config())) ?? assert.fail("no cluster")

/** The port on which a node takes calls of the others. */
const nodePort = () => parseNodeAddress(cluster().listen ?? "")?.port ?? 0

const containers: Readonly<Record<string, Container>> = {
  compose: {
    image: server.image,
    args: server.command,
    environment: Object.keys(server.environment),
    mounts: server.volumes.map((volume) => volume.slice(volume.indexOf(":") + 1)),
    graceSeconds: Number.parseInt(server.stop_grace_period, 10),
  },
  kubernetes: {
    image: container.image,
    // Kubernetes writes the values of variables into arguments.
    args: container.args.map((arg) => arg.replace("$(POD_IP)", "10.0.0.1")),
    environment: container.env.map(({ name }) => name).filter((name) => name !== "POD_IP"),
    mounts: container.volumeMounts.map(({ mountPath }) => mountPath),
    graceSeconds: pod.terminationGracePeriodSeconds,
  },
}

const exposed = Number(/^EXPOSE (\d+)$/m.exec(image)?.[1])

describe.each(Object.entries(containers))("the server of %s", (_, one) => {
  it("is started with arguments that the program accepts, and keys that exist", () => {
    const invocation = parse(one.args)
    if (Result.isFailure(invocation)) assert.fail(invocation.failure.message)
    const serve = invocation.success
    if (serve._tag !== "Serve") assert.fail("expected the command serve")
    assert.deepStrictEqual(serve.address, { scheme: "http", host: "0.0.0.0", port: exposed })
    const overrides = ConfigTree.parseOverrides(serve.overrides)
    if (Result.isFailure(overrides)) assert.fail(overrides.failure)
    const tree = ConfigTree.applyOverrides(ConfigTree.fromRecord({}), overrides.success)
    const [options, ofHttp] = [serverOptions(tree), httpOptions(tree)]
    assert.isTrue(Result.isSuccess(options) && Result.isSuccess(ofHttp))
    const graceMs = Result.getOrThrow(options).shutdown_grace_ms ?? 500
    const drainMs = cluster().drain_ms ?? defaultDrainMs
    assert.isAbove(one.graceSeconds * 1000, graceMs + drainMs + 20_000, "it may end by itself")
    for (const { key, value } of serve.flags ?? []) {
      assert.strictEqual(key, "cluster.address")
      assert.strictEqual(parseNodeAddress(value)?.port, nodePort())
    }
    assert.isTrue(Result.getOrThrow(ofHttp).tls_by_proxy)
  })

  it("is the image, with its directories and its key", () => {
    assert.strictEqual(one.image, "colloquy")
    const directories = [/^VOLUME \["(.+)"\]$/m, /^WORKDIR (.+)$/m].map(
      (line) => line.exec(image)?.[1] ?? "",
    )
    assert.deepStrictEqual(one.mounts, directories)
    assert.deepStrictEqual(one.environment, ["OPENAI_API_KEY"])
  })
})

describe("the page on several servers", () => {
  it("has a configuration that names the database of the compose file", () => {
    const { database } = cluster()
    assert.isUndefined(storeProblem(cluster(), Result.getOrThrow(serverOptions(config()))))
    const { hostname, password, pathname, username } = new URL(database)
    const { environment } = compose.services.database
    assert.isTrue(hostname in compose.services)
    assert.deepStrictEqual(
      [username, password, pathname],
      [
        environment["POSTGRES_USER"],
        environment["POSTGRES_PASSWORD"],
        `/${environment["POSTGRES_DB"]}`,
      ],
    )
  })

  it("has a deployment whose ports, probes, user, labels and volumes fit", () => {
    assert.strictEqual(deployment.kind, "Deployment")
    assert.deepStrictEqual(
      deployment.spec.selector.matchLabels,
      deployment.spec.template.metadata.labels,
    )
    assert.deepStrictEqual(container.ports, [
      { containerPort: exposed },
      { containerPort: nodePort() },
    ])
    for (const { httpGet } of [container.readinessProbe, container.livenessProbe]) {
      assert.strictEqual(httpGet.port, exposed)
      assert.include(http, `\`${httpGet.path}\``)
    }
    assert.include(image, `USER ${pod.securityContext.runAsUser}\n`)
    assert.deepStrictEqual(
      container.volumeMounts.map(({ name }) => name),
      pod.volumes.map(({ name }) => name),
    )
    const volumes = server.volumes.map((volume) => volume.split(":", 1)[0])
    assert.includeMembers(Object.keys(compose.volumes), volumes)
  })
  it("has a policy that lets clients reach the server, and pods each other's nodes", () => {
    const labels = { matchLabels: deployment.spec.template.metadata.labels }
    assert.deepStrictEqual(policy.spec.podSelector, labels)
    assert.deepStrictEqual(policy.spec.ingress, [
      { ports: [{ port: exposed }] },
      { from: [{ podSelector: labels }], ports: [{ port: nodePort() }] },
    ])
  })
})
