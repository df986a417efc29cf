import { existsSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { parse, parseAllDocuments } from 'yaml'

/** An object of the cluster. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { name: string; namespace?: string; labels?: Record<string, string> }
  spec?: Record<string, unknown>
  data?: Record<string, string>
}

interface Operation {
  readonly op: string
  readonly path: string
  readonly value?: unknown
}

interface Generator {
  readonly name: string
  readonly behavior?: string
  readonly literals?: readonly string[]
  readonly envs?: readonly string[]
  readonly files?: readonly string[]
  readonly options?: { readonly labels?: Record<string, string> }
}

interface Kustomization {
  readonly resources?: readonly string[]
  readonly components?: readonly string[]
  readonly namespace?: string
  readonly patches?: readonly {
    readonly path?: string
    readonly patch?: string
    readonly target: { readonly kind: string; readonly name?: string }
  }[]
  readonly images?: readonly { name: string; newName?: string; newTag?: string; digest?: string }[]
  readonly replicas?: readonly { readonly name: string; readonly count: number }[]
  readonly configMapGenerator?: readonly Generator[]
  readonly secretGenerator?: readonly Generator[]
}

const FIELDS = new Set([
  'apiVersion',
  'kind',
  'resources',
  'components',
  'namespace',
  'patches',
  'images',
  'replicas',
  'configMapGenerator',
  'secretGenerator',
])

/**
 * Renders a folder like `kubectl kustomize`, with the features that our overlays use: resources, components, RFC 6902
 * patches, images, replicas, a namespace, and generated config maps and secrets, whose names get no hash here.
 *
 * @throws when the folder uses anything else, so that nothing is left out of what is checked
 */
export function render(folder: string): Manifest[] {
  const manifests: Manifest[] = []
  apply(folder, manifests)
  return manifests
}

function apply(folder: string, manifests: Manifest[]): void {
  const kustomization = parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')) as Kustomization
  const unknown = Object.keys(kustomization).filter((field) => !FIELDS.has(field))
  if (unknown.length > 0)
    throw new Error(`${folder}: kustomization.yaml has fields that are not rendered: ${unknown.join(', ')}`)
  for (const path of kustomization.resources ?? []) add(resolve(folder, path), manifests)
  for (const generator of kustomization.configMapGenerator ?? []) generate('ConfigMap', folder, generator, manifests)
  for (const generator of kustomization.secretGenerator ?? []) generate('Secret', folder, generator, manifests)
  for (const path of kustomization.components ?? []) apply(resolve(folder, path), manifests)
  for (const { path, patch, target } of kustomization.patches ?? []) {
    const operations = parse(path === undefined ? patch! : readFileSync(join(folder, path), 'utf8')) as Operation[]
    const targets = manifests.filter(
      ({ kind, metadata }) => kind === target.kind && (target.name ?? metadata.name) === metadata.name,
    )
    if (targets.length === 0) throw new Error(`${folder}: a patch of ${target.kind} ${target.name ?? ''} has no target`)
    for (const manifest of targets) for (const operation of operations) change(manifest, operation)
  }
  for (const { name, count } of kustomization.replicas ?? []) {
    const found = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name)
    if (!found) throw new Error(`${folder}: replicas of ${name}, which is not there`)
    found.spec!['replicas'] = count
  }
  for (const image of kustomization.images ?? []) setImage(image, manifests)
  const { namespace } = kustomization
  if (namespace !== undefined) for (const { metadata } of manifests) metadata.namespace = namespace
}

function add(path: string, manifests: Manifest[]): void {
  if (existsSync(join(path, 'kustomization.yaml'))) apply(path, manifests)
  else for (const document of parseAllDocuments(readFileSync(path, 'utf8'))) manifests.push(document.toJS() as Manifest)
}

function generate(kind: string, folder: string, generator: Generator, manifests: Manifest[]): void {
  const { name, behavior, literals = [], envs = [], files = [], options } = generator
  const data: Record<string, string> = { ...parseEnv(literals.join('\n')) } as Record<string, string>
  for (const path of envs) Object.assign(data, parseEnv(readFileSync(join(folder, path), 'utf8')))
  for (const entry of files) {
    // `key=path`, or a path whose file name is the key.
    const [, key = basename(entry), path = entry] = /^([^=]+)=(.+)$/.exec(entry) ?? []
    data[key] = readFileSync(join(folder, path), 'utf8')
  }
  const before = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name)
  if ((behavior === 'merge') !== (before !== undefined)) throw new Error(`${folder}: ${kind} ${name} cannot be made`)
  if (before) {
    Object.assign(before.data!, data)
    return
  }
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])
  manifests.push({
    apiVersion: 'v1',
    kind,
    metadata: { name, ...(options?.labels && { labels: options.labels }) },
    data: kind === 'Secret' ? (Object.fromEntries(encoded) as Record<string, string>) : data,
  })
}

/** One operation of RFC 6902. */
function change(manifest: Manifest, { op, path, value }: Operation): void {
  const steps = path.split('/').slice(1).map(unescape)
  const last = steps.pop()!
  let place: unknown = manifest
  for (const step of steps) place = (place as Record<string, unknown> | undefined)?.[step]
  const name = `${op} ${path} of ${manifest.kind} ${manifest.metadata.name}`
  if (typeof place !== 'object' || place === null) throw new Error(`${name}: there is no such place`)
  const isThere = last in place
  if (op === 'add' && Array.isArray(place)) place.splice(last === '-' ? place.length : Number(last), 0, value)
  else if (op === 'add' || (op === 'replace' && isThere)) Object.assign(place, { [last]: structuredClone(value) })
  else if (op === 'remove' && isThere && !Array.isArray(place)) delete (place as Record<string, unknown>)[last]
  else throw new Error(`${name}: cannot be done`)
}

function unescape(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

function setImage(
  { name, newName = name, newTag, digest }: { name: string; newName?: string; newTag?: string; digest?: string },
  manifests: readonly Manifest[],
): void {
  const reference = `${newName}${newTag === undefined ? '' : `:${newTag}`}${digest === undefined ? '' : `@${digest}`}`
  for (const container of manifests.flatMap(containersOf)) if (container.image === name) container.image = reference
}

/** A container of a pod. */
export interface Container {
  readonly name: string
  image: string
  readonly command?: readonly string[]
  readonly env?: readonly {
    readonly name: string
    readonly value?: string
    readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } }
  }[]
  readonly envFrom?: readonly {
    readonly secretRef?: { readonly name: string }
    readonly configMapRef?: { readonly name: string }
  }[]
  readonly securityContext?: Readonly<Record<string, unknown>>
  readonly resources?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly startupProbe?: object
  readonly livenessProbe?: object
  readonly readinessProbe?: object
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } }
}

/** Pod settings of a Deployment or a Job. */
export interface Pod {
  readonly serviceAccountName?: string
  readonly automountServiceAccountToken?: boolean
  readonly terminationGracePeriodSeconds?: number
  readonly securityContext?: Readonly<Record<string, unknown>>
  readonly containers: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly volumes?: readonly { readonly name: string; readonly emptyDir?: { readonly sizeLimit?: string } }[]
}

/** The pods of an object; null for one that has none. */
export function podOf({ kind, spec }: Manifest): Pod | null {
  if (kind !== 'Deployment' && kind !== 'Job') return null
  return (spec!['template'] as { spec: Pod }).spec
}

function containersOf(manifest: Manifest): Container[] {
  const pod = podOf(manifest)
  return pod === null ? [] : [...(pod.initContainers ?? []), ...pod.containers]
}
