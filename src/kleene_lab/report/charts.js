// Replaces each static chart by a live one when it comes near the window. The series under the
// pointer, in a chart or in the legend, stands out in all charts of its experiment.
for (const experiment of document.querySelectorAll(".experiment")) {
  const views = [];
  const focus = (name) => views.forEach((view) => view.signal("focus", name).runAsync());
  const hydrate = async (chart) => {
    const live = document.createElement("div");
    const spec = JSON.parse(chart.querySelector("script").textContent);
    const options = { actions: false, config, renderer: "svg", tooltip: { theme: "custom" } };
    const { view } = await vegaEmbed(live, spec, options);
    view.addEventListener("pointerover", (_, item) => focus(item?.datum?.series ?? ""));
    view.addEventListener("pointerout", () => focus(""));
    views.push(view);
    chart.querySelector("svg").replaceWith(live);
    chart.dataset.live = "";
  };
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((entry) => entry.isIntersecting)) {
      near.unobserve(entry.target);
      hydrate(entry.target);
    }
  }, { rootMargin: "600px" });
  experiment.querySelectorAll(".chart").forEach((chart) => near.observe(chart));
  for (const name of experiment.querySelectorAll(".key [data-series]")) {
    name.addEventListener("pointerenter", () => focus(name.dataset.series));
    name.addEventListener("pointerleave", () => focus(""));
  }
}
