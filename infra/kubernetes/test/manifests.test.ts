import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { schemaProblems } from './support/check-schema.ts'
import { podOf, render, type Container, type Manifest } from './support/render.ts'

const root = join(import.meta.dirname, '../../..')
const OVERLAYS = ['small', 'production']
/** Variables that Node and the C library read. */
const OF_THE_PROCESS = new Set(['NODE_OPTIONS', 'MALLOC_ARENA_MAX'])
const APPS = ['worker', 'origin', 'functions', 'router', 'console']

/** A copy of the manifests with keys from the tool. */
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'terrane-manifests-'))
  for (const name of ['base', 'components', 'overlays']) {
    cpSync(join(root, 'infra/kubernetes', name), join(folder, name), { recursive: true })
  }
  const env = { ...process.env, DATABASE_URL: 'postgres://terrane@database/terrane', AWS_ACCESS_KEY_ID: 'id' }
  for (const overlay of OVERLAYS) {
    const keys = join(folder, 'overlays', overlay, 'keys')
    rmSync(keys, { recursive: true, force: true })
    await promisify(execFile)(process.execPath, [join(root, 'infra/new-keys.ts'), '--folder', keys], { env })
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

const overlay = (name: string) => render(join(folder, 'overlays', name))
const containersOf = (manifest: Manifest): Container[] => {
  const pod = podOf(manifest)
  return pod === null ? [] : [...(pod.initContainers ?? []), ...pod.containers]
}

/** Variables that each app reads, from the tables of the documentation, which `pnpm check` keeps true. */
const settings = new Map<string, string[]>()
const page = readFileSync(join(root, 'docs/settings.md'), 'utf8').split('<!-- variables')[1]!
for (const section of page.split('\n### ').slice(1)) {
  const [name = ''] = section.split('\n')
  settings.set(
    name,
    [...section.matchAll(/^\| `([A-Z][A-Z0-9_]*)` \|/gm)].map((match) => match[1]!),
  )
}
const readBy = (app: string) => new Set([...settings.get('every app')!, ...settings.get(app)!])

describe.each(OVERLAYS)('the overlay %s', (name) => {
  test('fits the schemas of Kubernetes, KEDA and the Prometheus operator', async () => {
    const problems: Record<string, string[]> = {}
    for (const manifest of overlay(name)) {
      const found = await schemaProblems(manifest)
      if (found.length > 0) problems[`${manifest.kind} ${manifest.metadata.name}`] = found
    }
    expect(problems).toEqual({})
  })

  test('runs every pod without rights, on a root that cannot be written, within bounds', () => {
    for (const manifest of overlay(name)) {
      const pod = podOf(manifest)
      if (pod === null) continue
      const where = manifest.metadata.name
      expect(pod.automountServiceAccountToken, where).toBe(false)
      expect(pod.securityContext, where).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      for (const { emptyDir } of pod.volumes ?? []) if (emptyDir) expect(emptyDir.sizeLimit, where).toBeDefined()
      for (const { securityContext, resources, image } of containersOf(manifest)) {
        expect(securityContext, where).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(Object.keys(resources!['requests']!).toSorted(), where).toEqual(['cpu', 'memory'])
        expect(resources!['limits'], where).toHaveProperty('memory')
        expect(image, where).toMatch(/:\d+\.\d+\.\d+$|@sha256:[\da-f]{64}$/)
      }
    }
  })

  test('gives each app its own account, service, budget of disruptions, probes and time to stop', () => {
    const manifests = overlay(name)
    const find = (kind: string, app: string) =>
      manifests.find((one) => one.kind === kind && one.metadata.name === app) as Manifest
    const settingsMap = find('ConfigMap', 'terrane-settings').data!
    for (const app of APPS) {
      const pod = podOf(find('Deployment', app))!
      const [container] = pod.containers as [Container]
      expect(pod.serviceAccountName).toBe(app)
      expect(find('ServiceAccount', app)).toBeDefined()
      expect(find('PodDisruptionBudget', app).spec).toMatchObject({ selector: { matchLabels: { app } } })
      const service = find('Service', app).spec as { selector: object; ports: { port: number; targetPort: string }[] }
      expect(service.selector).toEqual({ app })
      const offered = Object.fromEntries(container.ports!.map((port) => [port.name, port.containerPort]))
      for (const { port, targetPort } of service.ports) expect(offered[targetPort], app).toBe(port)
      expect(offered['metrics']).toBe(Number(settingsMap['TERRANE_METRICS_PORT']))
      expect([container.startupProbe, container.livenessProbe, container.readinessProbe], app).not.toContain(undefined)
      const waits = container.lifecycle!.preStop.sleep.seconds + Number(settingsMap['DRAIN_TIMEOUT_MS']) / 1000
      expect(pod.terminationGracePeriodSeconds, app).toBeGreaterThan(waits)
    }
  })

  test('tells each pod no secret but its own, and no variable that it does not read', () => {
    const manifests = overlay(name)
    const dataOf = (kind: string, of: string) =>
      manifests.find((one) => one.kind === kind && one.metadata.name === of)!.data!
    const anywhere = new Set([...settings.values()].flat())
    const unknown = Object.keys(dataOf('ConfigMap', 'terrane-settings')).filter((key) => !anywhere.has(key))
    expect(unknown).toEqual([])
    for (const manifest of manifests) {
      const app = manifest.metadata.name
      for (const { env = [], envFrom = [] } of containersOf(manifest)) {
        const secrets = [
          ...envFrom.flatMap(({ secretRef }) => (secretRef ? [secretRef.name] : [])),
          ...env.flatMap(({ valueFrom }) => (valueFrom?.secretKeyRef ? [valueFrom.secretKeyRef.name] : [])),
        ]
        expect(new Set([...secrets, `terrane-${app}`]), app).toEqual(new Set([`terrane-${app}`]))
        if (!APPS.includes(app)) continue
        const told = [...env.map((entry) => entry.name), ...Object.keys(dataOf('Secret', `terrane-${app}`))]
        const unread = told.filter((key) => !readBy(app).has(key) && !OF_THE_PROCESS.has(key))
        expect(unread, app).toEqual([])
      }
    }
    expect(Object.keys(dataOf('Secret', 'terrane-router'))).toEqual(['DATABASE_URL'])
    expect(Object.keys(dataOf('Secret', 'terrane-migrations'))).toEqual(['DATABASE_URL'])
  })

  test('names only programs of the images, and files that are there', () => {
    const programs = overlay(name)
      .flatMap(containersOf)
      .flatMap(({ command = [] }) => {
        return command[0] === 'node' ? [command[1]!] : []
      })
    expect(programs).toHaveLength(2)
    expect(programs.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  test('lets into a pod only who has business there', () => {
    const policies = overlay(name).filter(({ kind }) => kind === 'NetworkPolicy')
    const everyone = policies.find(({ spec }) => Object.keys(spec!['podSelector'] as object).length === 0)!
    expect(everyone.spec!['policyTypes']).toEqual(['Ingress', 'Egress'])
    // Ingress rules of the other policies: only published ports may be open to everyone.
    for (const { metadata, spec } of policies) {
      const open = (spec!['ingress'] as { from?: object[] }[]).some(({ from }) => from === undefined)
      expect(open, metadata.name).toBe(metadata.name === 'published')
    }
  })
})

test('autoscaling counts as the workers do', () => {
  const manifests = overlay('production')
  const env = Object.fromEntries(
    podOf(
      manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'worker')!,
    )!.containers[0]!.env!.map((entry) => [entry.name, entry.value]),
  )
  const scaled = manifests.find(({ kind }) => kind === 'ScaledObject')!
  const [{ metadata }] = scaled.spec!['triggers'] as [{ metadata: Record<string, string> }]
  expect(metadata['targetQueryValue']).toBe(env['TERRANE_WORKER_CONCURRENCY'])
  expect(metadata['query']).toContain(`least(jobs, ${env['TERRANE_PROJECT_CONCURRENCY']})`)
  expect(scaled.spec).toMatchObject({ scaleTargetRef: { name: 'worker' }, minReplicaCount: 1 })
  // A fixed number would conflict with the autoscaler at every deployment.
  const worker = manifests.find(({ kind, metadata: { name } }) => kind === 'Deployment' && name === 'worker')!
  expect(worker.spec).not.toHaveProperty('replicas')
})

test('a value of a wrong type and a field that does not exist are found', async () => {
  const [deployment] = overlay('small').filter(({ kind }) => kind === 'Deployment') as [Manifest]
  Object.assign(deployment.spec!, { replica: 2 })
  expect(await schemaProblems(deployment)).toEqual(['/spec/replica is not a known field'])
  Object.assign(deployment.spec!, { replicas: 'two' })
  expect(await schemaProblems(deployment)).toEqual([expect.stringContaining('replicas must be integer')])
})

test('a generator names the key of a file before an equals sign, else by the name of the file', () => {
  const place = mkdtempSync(join(tmpdir(), 'terrane-generator-'))
  try {
    writeFileSync(join(place, 'settings.json'), '{"worker":{}}')
    const files = '[TERRANE_SETTINGS=settings.json, settings.json]'
    writeFileSync(
      join(place, 'kustomization.yaml'),
      `configMapGenerator:\n  - { name: terrane-settings, files: ${files} }\n`,
    )
    const content = '{"worker":{}}'
    expect(render(place)).toMatchObject([{ data: { TERRANE_SETTINGS: content, 'settings.json': content } }])
  } finally {
    rmSync(place, { recursive: true })
  }
})
