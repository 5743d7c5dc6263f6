
(function(){"use strict";
var D=P.D,q=P.q,all=P.all,n=D.rank.length;
P.begin(function(){});
P.sorts(".panel table,#workers table,#figures table");

/* Sections are tabs: clicks, and arrows as the pattern of ARIA has them. */
var tabs=all("[role=tab]"),list=q("[role=tablist]");
function open(tab){tabs.forEach(function(t){var on=t===tab,p=document.getElementById(t.getAttribute("aria-controls"));
t.setAttribute("aria-selected",on);t.tabIndex=on?0:-1;p.hidden=!on;p.setAttribute("role","tabpanel");p.setAttribute("aria-labelledby",t.id)})}
tabs.forEach(function(t,i){t.onclick=function(){open(t)};
t.onkeydown=function(e){var k=e.key,m=tabs.length,to=k==="ArrowRight"?(i+1)%m:k==="ArrowLeft"?(i+m-1)%m:k==="Home"?0:k==="End"?m-1:-1;
if(to>=0){e.preventDefault();open(tabs[to]);tabs[to].focus()}}});
if(list){list.hidden=false;q("main").classList.add("tabbed");open(q("[aria-selected=true]",list)||tabs[0])}

/* Two letters are a share of the greatest figure; the last one means that there is none. */
var LETTERS="ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
function decode(text,most){var out=[];for(var i=0;i<n;i++){var v=LETTERS.indexOf(text[2*i])*64+LETTERS.indexOf(text[2*i+1]);
out.push(v===4095?NaN:v/4094*most)}return out}
function figure(v){var a=Math.abs(v);return String(+v.toFixed(a>=99.95?0:a>=9.995?1:a>=.9995?2:3))}
function share(v){return isNaN(v)?"–":+(100*v).toFixed(100*v<9.95?1:0)+" %"}
function us(v){return isNaN(v)?"–":v<1e4?figure(v)+" µs":figure(v/1e3)+" ms"}

/* One function on all workers, in the bars that the page has. */
var section=q("#function"),svg=q("svg.one");
function bars(group,values,most,out,tell){var g=q("g."+group,svg),rects=all("rect",g),per=Math.ceil(n/rects.length)||1,
top=+g.dataset.top,high=+g.dataset.high;rects.forEach(function(r,b){var v=NaN,at=b*per,hit=false;
for(var w=b*per;w<Math.min(n,(b+1)*per);w++){if(out[w])hit=true;if(values[w]>v||isNaN(v)&&!isNaN(values[w])){v=values[w];at=w}}
var h=v>0&&most>0?v/most*high:0;r.setAttribute("height",h.toFixed(1));r.setAttribute("y",(top+high-h).toFixed(1));
r.setAttribute("class",hit?"v hot":"v");q("title",r).textContent="rank "+D.rank[at]+": "+tell(v)})}
function show(i){var f=D.functions[i],row=q("tr[data-f='"+i+"']");if(!f||!row||!svg)return;
var out={},s=decode(f.shares,f.share),c=decode(f.calls,f.us),most=all("text.most",svg),line=q("path.usual",svg),g=q("g.share",svg);
f.out.forEach(function(w){out[w]=1});bars("share",s,f.share,out,share);bars("call",c,f.us,out,us);
most[0].textContent=share(f.share);most[1].textContent=us(f.us);
var y=+g.dataset.top+g.dataset.high*(1-(f.share>0?Math.min(f.usual/f.share,1):0));
line.setAttribute("d",line.getAttribute("d").replace(/ [-.\d]+H/," "+y.toFixed(1)+"H"));
q(".one",section).textContent=row.cells[0].title;
all("tbody tr",section).forEach(function(r,w){r.cells[1].textContent=share(s[w]);r.cells[2].textContent=us(c[w]);r.className=out[w]?"hit":""});
all("[data-f]").forEach(function(e){e.classList.toggle("picked",+e.dataset.f===i)});
var b=section.getBoundingClientRect();if(b.top<0||b.bottom>innerHeight)section.scrollIntoView({block:"nearest"})}
all("[data-f]").forEach(function(e){var i=+e.dataset.f;if(!D.functions[i]){e.classList.add("far");return}e.setAttribute("tabindex","0");
e.onclick=function(){show(i)};e.onkeydown=function(k){if(k.key==="Enter"||k.key===" "){k.preventDefault();show(i)}
var o=k.key==="ArrowDown"?e.nextElementSibling:k.key==="ArrowUp"?e.previousElementSibling:null;
if(o&&o.dataset.f!==undefined&&e.tagName==="TR"){k.preventDefault();o.focus();show(+o.dataset.f)}}});
})();
