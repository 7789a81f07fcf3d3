/** What the requests to one provider have in common, derived once from its settings. */
import type { ModelProvider } from "@colloquy/core/ModelClient"
import { endpointOf } from "./Address.ts"
import { providerProblem } from "./failures/ProviderProblem.ts"

/** The derived facts of one provider's settings. */
class Target {
  /** The first fault of the settings, if any. */
  readonly problem: string | undefined
  private readonly queryParams: ModelProvider["queryParams"]
  private last: { readonly address: string; readonly url: URL | undefined } | undefined

  constructor(provider: ModelProvider) {
    this.problem = providerProblem(provider)
    this.queryParams = provider.queryParams
  }

  /** The URL of a path; undefined when the address is not a URL. The same object while the address stays the same. */
  url(baseUrl: string, path: string): URL | undefined {
    const address = endpointOf(baseUrl, path)
    if (this.last?.address !== address) this.last = { address, url: this.parse(address) }
    return this.last.url
  }

  private parse(address: string): URL | undefined {
    if (!URL.canParse(address)) return undefined
    const url = new URL(address)
    for (const [name, value] of Object.entries(this.queryParams)) {
      url.searchParams.append(name, value)
    }
    return url
  }
}

/** Remembers the facts of each provider's settings as long as the settings are in use. */
export class Targets {
  private readonly known = new WeakMap<ModelProvider, Target>()

  /** The facts of these settings. */
  of(provider: ModelProvider): Target {
    const known = this.known.get(provider)
    if (known !== undefined) return known
    const target = new Target(provider)
    this.known.set(provider, target)
    return target
  }
}
