/**
 * The variables in which `git` receives settings. They belong together: with one of them missing every `git` fails, so
 * the default excludes remove all of them or none. Pure.
 */
import { isSecretValue } from "./SecretValues.ts"

const gitSetting = /^GIT_CONFIG_(?:COUNT|KEY_\d+|VALUE_\d+|PARAMETERS)$/i
const namesSettings = /^GIT_CONFIG_(?:KEY_\d+|PARAMETERS)$/i

/** Names of settings whose values are secrets, quoted as in `GIT_CONFIG_PARAMETERS`. */
const secretSetting =
  /'credential\.|[.']extraheader['=]|(?<!ask)(?:password|passwd|pass|token|secret)['=]/i

/** True for a variable in which `git` receives settings. */
export const isGitSetting = (name: string): boolean => gitSetting.test(name)

/** True when one of these variables holds a secret, or names a setting whose value is one. */
export const hasSecretGitSetting = (
  variables: Readonly<Record<string, string | undefined>>,
): boolean =>
  Object.entries(variables).some(
    ([name, value]) =>
      value !== undefined &&
      isGitSetting(name) &&
      (isSecretValue(value) || (namesSettings.test(name) && secretSetting.test(`'${value}'`))),
  )
