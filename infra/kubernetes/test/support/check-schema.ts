import type { Manifest } from './render.ts'

/** Packages with classes generated from the OpenAPI documents of Kubernetes, KEDA and the Prometheus operator. */
const PACKAGES: Readonly<Record<string, string>> = {
  v1: 'kubernetes-models/v1',
  'apps/v1': 'kubernetes-models/apps/v1',
  'batch/v1': 'kubernetes-models/batch/v1',
  'networking.k8s.io/v1': 'kubernetes-models/networking.k8s.io/v1',
  'policy/v1': 'kubernetes-models/policy/v1',
  'keda.sh/v1alpha1': '@kubernetes-models/keda/keda.sh/v1alpha1',
  'monitoring.coreos.com/v1': '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1',
}

interface Model {
  readonly prototype: { validate(this: unknown): void }
}

/** Schema problems of an object: values that the schema of its kind refuses, and fields that it does not define. */
export async function schemaProblems(manifest: Manifest): Promise<string[]> {
  const { apiVersion, kind } = manifest
  const module = PACKAGES[apiVersion]
  if (module === undefined) return [`there is no schema of ${apiVersion}`]
  const { [kind]: Kind } = (await import(`${module}/${kind}`)) as Record<string, Model>
  // The validators neither refuse nor read unknown fields, so fields that they do not read are reported.
  const seen = new Set<string>()
  try {
    Kind!.prototype.validate.call(watched(manifest, '', seen))
  } catch (error) {
    return [(error as Error).message]
  }
  return pathsOf(manifest, '')
    .filter((path) => !seen.has(path))
    .map((path) => `${path} is not a known field`)
}

/** A proxy of a value that records which of its fields are read. */
function watched(value: unknown, path: string, seen: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get(target, key, receiver) {
      const inner: unknown = Reflect.get(target, key, receiver)
      if (typeof key === 'symbol') return inner
      seen.add(`${path}/${key}`)
      return watched(inner, `${path}/${key}`, seen)
    },
  })
}

function pathsOf(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [`${path}/${key}`, ...pathsOf(inner, `${path}/${key}`)])
}
