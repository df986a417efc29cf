import { readFileSync } from 'node:fs'
import { splitList } from '@terrane/core'
import type { TProperties, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { invalidConfig } from '../errors.ts'
import { createLogger } from '../logger.ts'
import { EveryApp, factsOf, groupOf, SECTIONS, ServiceVariables, type Config, type SettingsSchema } from './schema.ts'

type Env = Readonly<Record<string, string | undefined>>
type Members = Readonly<Record<string, unknown>>

/** Variables that are read from the settings file from the next release on, and their values as members of that file. */
interface Renamed {
  readonly variables: readonly string[]
  readonly settings: Members
}

/**
 * Reads an app's settings once, from the environment and from the file that TERRANE_SETTINGS names: empty variables
 * count as absent, their text is converted to the schema's types, defaults are filled in, and every problem is reported
 * at once. The former variable of a member overrides the value in the file. Values of schemas marked `secret: true`
 * never appear in a message. The result is frozen.
 *
 * @param onRenamed called with each former variable; writes one line into the log unless given
 * @throws INVALID_CONFIG
 */
export function readSettings<V extends TProperties, F extends TProperties>(
  schema: SettingsSchema<V, F>,
  env: Env,
  onRenamed?: (renamed: Renamed) => void,
): Config<SettingsSchema<V, F>> {
  const reader = new SettingsReader(env, schema.app)
  const config = {
    ...reader.readVariables({ ...ServiceVariables, ...schema.variables }),
    ...reader.readSection('everyApp', EveryApp),
    ...reader.readSection(schema.app, schema.file),
  } as Config<SettingsSchema<V, F>>
  if (reader.problems.length > 0) throw invalidConfig({ problems: reader.problems })
  const { renamed } = reader
  const warn = (given: Renamed) =>
    createLogger({ name: schema.app, level: config.LOG_LEVEL }).warn(
      given,
      'variables of the former release are set: put `settings` into the file of TERRANE_SETTINGS instead',
    )
  if (renamed.variables.length > 0) (onRenamed ?? warn)(renamed)
  return Object.freeze(config)
}

/** Reads one environment and its settings file, and collects their problems. */
class SettingsReader {
  readonly problems: string[] = []
  readonly renamed = { variables: [] as string[], settings: {} as Record<string, unknown> }
  readonly #env: Env
  readonly #file: { readonly name: string; readonly sections: Members }

  constructor(env: Env, app: string) {
    this.#env = env
    this.#file = this.#openFile([...SECTIONS, app])
  }

  readVariables(properties: TProperties): Record<string, unknown> {
    const values: Record<string, unknown> = {}
    for (const [name, schema] of Object.entries(properties)) {
      const text = this.#textOf(name)
      const value = text === undefined ? factsOf(schema).default : fromText(schema, text)
      if (value !== undefined) values[name] = this.#accept(schema, name, value)
      else if (factsOf(schema).isRequired) this.problems.push(`${name} is not set: ${describe(schema)}`)
    }
    return values
  }

  readSection(section: string, properties: TProperties): Record<string, unknown> {
    return this.#readGroup(properties, this.#file.sections[section], [section])
  }

  #readGroup(properties: TProperties, given: unknown = {}, path: readonly string[]): Record<string, unknown> {
    const place = `${path.join('.')} in ${this.#file.name}`
    const members = isObject(given) ? given : {}
    if (!isObject(given)) this.problems.push(`${place} is not an object`)
    for (const name of Object.keys(members)) {
      if (Object.hasOwn(properties, name)) continue
      const known = Object.keys(properties).join(', ')
      this.problems.push(`${path.join('.')}.${name} in ${this.#file.name} is not a setting: use one of ${known}`)
    }
    const values: Record<string, unknown> = {}
    for (const [name, schema] of Object.entries(properties)) {
      const inner = [...path, name]
      const group = groupOf(schema)
      const value = group ? this.#readGroup(group, members[name], inner) : this.#readMember(schema, members, inner)
      if (value !== undefined) values[name] = value
    }
    return Object.freeze(values)
  }

  #readMember(schema: TSchema, members: Members, path: readonly string[]): unknown {
    const { formerly, default: fallback } = factsOf(schema)
    const text = formerly === undefined ? undefined : this.#textOf(formerly)
    if (text !== undefined) {
      const value = this.#accept(schema, formerly!, fromText(schema, text))
      this.renamed.variables.push(formerly!)
      setAt(this.renamed.settings, path, value)
      return value
    }
    const given = members[path.at(-1)!]
    return given === undefined ? fallback : this.#accept(schema, `${path.join('.')} in ${this.#file.name}`, given)
  }

  #accept(schema: TSchema, name: string, value: unknown): unknown {
    if (!Value.Check(schema, value)) {
      const shown = factsOf(schema).secret
        ? 'the value'
        : `'${typeof value === 'string' ? value : JSON.stringify(value)}'`
      this.problems.push(`${name}: ${shown} is not acceptable: ${describe(schema)}`)
    }
    return value
  }

  #textOf(name: string): string | undefined {
    return this.#env[name]?.trim() || undefined
  }

  /** The file of TERRANE_SETTINGS; a value that begins with `{` is its contents. */
  #openFile(known: readonly string[]): { name: string; sections: Members } {
    const given = this.#textOf('TERRANE_SETTINGS')
    if (given === undefined) return { name: '', sections: {} }
    const isText = given.startsWith('{')
    const name = isText ? 'TERRANE_SETTINGS' : given
    try {
      const sections: unknown = JSON.parse(isText ? given : readFileSync(given, 'utf8'))
      if (!isObject(sections)) throw new Error('it is not an object')
      for (const section of Object.keys(sections))
        if (!known.includes(section))
          this.problems.push(`${section} in ${name} is not a section: use one of ${SECTIONS.join(', ')}`)
      return { name, sections }
    } catch (error) {
      this.problems.push(`TERRANE_SETTINGS: the settings file cannot be read: ${(error as Error).message}`)
      return { name, sections: {} }
    }
  }
}

function fromText(schema: TSchema, text: string): unknown {
  return factsOf(schema).type === 'array' ? splitList(text) : Value.Convert(schema, text)
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function setAt(target: Record<string, unknown>, [name, ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) target[name!] = value
  else setAt((target[name!] ??= {}) as Record<string, unknown>, rest, value)
}

function describe(schema: TSchema): string {
  const { description, type, minimum, maximum, enum: values } = factsOf(schema)
  const facts = [
    description,
    type && `(${type}${minimum === undefined ? '' : ` ≥ ${minimum}`}${maximum === undefined ? '' : ` ≤ ${maximum}`})`,
    values && `(one of ${values.join(', ')})`,
  ]
  return facts.filter(Boolean).join(' ')
}
