// A plug-in of yarn (2 and later): dependencies come from registries, workspaces and files,
// and not from programs. What the lockfile says they are resolved to is looked at before
// the first dependency, and each dependency when "resolutions" and the like are applied.
const known = /^(?:(?:npm|jsr|workspace|portal|link|file|patch|catalog|virtual):.*|[^:/]*)$/s;
const made = /exec:|git[@+:]|\.git\b/i;
const decode = (text) => { try { return decodeURIComponent(text); } catch { return text; } };
const seen = new WeakSet();

const check = (name, range) => {
  if (!known.test(range) || made.test(decode(decode(range)))) {
    throw new Error(`${name}@${range} is made by a program, which is not run for a head that is not trusted`);
  }
};

module.exports = {
  name: 'only-packages',
  factory: () => ({
    hooks: {
      reduceDependency: async (dependency, project) => {
        if (!seen.has(project)) {
          seen.add(project);
          for (const one of [...project.originalPackages.values(), ...project.storedPackages.values()]) {
            check(one.name, one.reference);
          }
        }
        check(dependency.name, dependency.range);
        return dependency;
      },
    },
  }),
};
