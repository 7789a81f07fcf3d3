/** The provider that a command line names. It is used in place of that of a stored conversation. Pure. */
import type { StoredSettings } from "@colloquy/core/StoredSettings"
import { defined } from "@colloquy/protocol/Defined"
import type { Startup } from "../server/Startup.ts"

/**
 * The settings with which a stored conversation goes on. Models belong to their provider: with another one come the model
 * and the effort of the configuration.
 */
export const withNamedProvider =
  ({ overrides, settings }: Pick<Startup, "overrides" | "settings">) =>
  (stored: StoredSettings): StoredSettings => {
    const isNamed = overrides.some(({ path }) => path === "model_provider")
    if (!isNamed || stored.provider === settings.provider.id) return stored
    const { contextWindow, effort, model, provider } = settings
    const { effort: _, ...rest } = stored
    return { ...rest, model, provider: provider.id, contextWindow, ...defined({ effort }) }
  }
