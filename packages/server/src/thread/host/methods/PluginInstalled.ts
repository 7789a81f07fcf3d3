/** `plugin/installed`: this program has no plugins. */
import type { PluginInstalled } from "@colloquy/protocol/thread/Skills"
import * as Effect from "effect/Effect"
import { directoriesOf } from "../Directories.ts"
import type { HostHandler } from "../HostCall.ts"

/** Handler of the method. */
export const pluginInstalled: HostHandler<typeof PluginInstalled> = ({ cwds }) =>
  Effect.as(directoriesOf(cwds), { marketplaces: [], marketplaceLoadErrors: [] })
